import { CacheMemory } from "@accountlink/cache-memory";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import type { ChatId } from "../ids.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { guildId } from "../test_world.ts";
import { makeCandidateMembers } from "./candidate_members.ts";

const candidates = Array.from({ length: 150 }, (_, index) => String(20_001 + index) as ChatId);
const member = candidates[140] as ChatId;

/** A platform that needs 900 milliseconds for an answer, of which 64 fit into an attempt. */
const slowPlatform = (asked: Array<ChatId>) => {
  const unused = Effect.die("not asked for");
  return ChatPlatform.of({
    findMember: (_, chatId) =>
      Effect.delay(
        Effect.sync(() => {
          asked.push(chatId);
          return chatId === member ? Option.some({ nickname: null, joined: null, roles: [] }) : Option.none();
        }),
        "900 millis",
      ),
    findGuild: () => unused,
    joinedGuilds: () => unused,
    isManager: () => unused,
    findUser: () => unused,
  });
};

describe("makeCandidateMembers", () => {
  it.effect("needs as many attempts as the platform is slow, and asks about each chat user once", () => {
    const asked: Array<ChatId> = [];
    return Effect.gen(function* () {
      const membersOf = yield* makeCandidateMembers;
      const attempt = Effect.gen(function* () {
        const running = yield* Effect.forkChild(membersOf(guildId, candidates), { startImmediately: true });
        yield* TestClock.adjust("2 seconds");
        const { members, unknown, failure } = yield* Fiber.join(running);
        return { members: [...members], unknown, failure };
      });
      assert.deepStrictEqual(
        [yield* attempt, yield* attempt, yield* attempt],
        [
          { members: [], unknown: 86, failure: null },
          { members: [], unknown: 22, failure: null },
          { members: [member], unknown: 0, failure: null },
        ],
      );
      assert.deepStrictEqual(asked, candidates);
    }).pipe(
      Effect.provide(
        GuildGuard.layer.pipe(
          Layer.provide(Layer.succeed(ChatPlatform, slowPlatform(asked))),
          Layer.provideMerge(CacheMemory.layer),
        ),
      ),
    );
  });
});
