import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import type { ChatId, GuildId } from "../ids.ts";
import type { ChatRoles, RoleMember } from "../platforms/chat_platform.ts";
import { bounds } from "../turns/mod.ts";
import { walkMembers } from "./member_walk.ts";

/** Walks through a guild, and returns how many members each slice had so far. */
const walk = (count: number) =>
  Effect.gen(function* () {
    const slices: Array<number> = [];
    const all = Array.from(
      { length: count },
      (_, index) => ({ chatId: String(100_001 + index) }) as RoleMember,
    );
    const membersPage: ChatRoles["membersPage"] = (_, after) =>
      Effect.succeed({ members: all.slice(all.findIndex(({ chatId }) => chatId === after) + 1), next: null });
    const walking = yield* Effect.forkChild(
      walkMembers({ membersPage } as ChatRoles, {
        guildId: "7" as GuildId,
        after: null as ChatId | null,
        steps: { goOn: Effect.void, step: (step) => step as never },
        visit: (slice) => Effect.sync(() => slices.push(slice.length)),
      }),
      { startImmediately: true },
    );
    return { slices, walking };
  });

test("members of one slice are visited without a pause", function* () {
  const { slices, walking } = yield* walk(50);
  yield* Fiber.join(walking);
  expect(slices).toEqual([50]);
});

test("further slices wait for a pause", function* () {
  const { slices, walking } = yield* walk(120);
  expect(slices).toEqual([50]);
  yield* TestClock.adjust(2 * bounds.workedAtOnce);
  yield* Fiber.join(walking);
  expect(slices).toEqual([50, 50, 20]);
});
