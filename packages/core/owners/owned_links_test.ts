import { CacheMemory } from "@accountlink/memory";
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option, Stream } from "effect";
import { TestClock } from "effect/testing";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { LinkStore, newestOf } from "../links/link_store.ts";
import { LinkWriter } from "../links/link_writer.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { Profiles } from "../platforms/profiles.ts";
import { MemberLists } from "./member_lists.ts";
import { OwnedLinks } from "./owned_links.ts";
import { OwnedScopes } from "./owned_scopes.ts";

const scope = { kind: "global", pid: "pid" as Pid, account: "acme" } as const;

/** Lets the loop start all of its items. */
const settle = Effect.repeat(Effect.yieldNow, { times: 200 });

const links = Array.from({ length: 60 }, (_, index) => ({
  chatId: String(100_001 + index) as ChatId,
  gameId: "1" as GameId,
  linkVersion: 1,
  lastVerifiedAt: index,
  proof: null,
  linkedAt: index,
}));

/** The services of links, on platforms that note the chat users and the names of game users that they are asked for. */
const layerAsking = (asked: Array<ChatId>, names: Array<string> = []) =>
  OwnedLinks.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.mock(LinkStore)({
          findByGameIds: () => Effect.succeed(new Map()),
          findByChatIds: () => Effect.succeed(new Map()),
          newestPage: (_, place, limit, direction) =>
            Effect.succeed(newestOf(links, place, limit, direction)),
        }),
        Layer.mock(Profiles)({
          chatProfiles: (chatIds) =>
            Effect.as(
              Effect.sync(() => asked.push(...chatIds)),
              new Map(),
            ),
          gameNames: () => Effect.succeed(new Map()),
        }),
        Layer.mock(LinkWriter)({}),
        Layer.mock(ChatPlatform)({ findUserByName: () => Effect.succeedNone }),
        Layer.mock(GamePlatform)({
          findUserByName: (name) =>
            Effect.as(
              Effect.sync(() => names.push(name)),
              Option.none(),
            ),
        }),
        Layer.mock(GuildGuard)({ requireAccount: () => Effect.undefined }),
        Layer.mock(OwnedScopes)({ counts: {} as never }),
        Layer.mock(MemberLists)({ progress: () => null }),
        CacheMemory.layer,
      ),
    ),
  );

test("a file with names asks the chat platform for 25 users a second, and leaves it the other half of its limit", function* () {
  const asked: Array<ChatId> = [];
  const { newest } = yield* Effect.provide(OwnedLinks, layerAsking(asked));
  yield* Effect.forkChild(Stream.runDrain(newest(scope, 55)));
  yield* settle;
  for (const [time, count] of [
    ["999 millis", 25],
    ["1 milli", 50],
    ["999 millis", 50],
    ["1 milli", 60],
  ] as const) {
    yield* TestClock.adjust(time);
    yield* settle;
    expect(asked).toHaveLength(count);
  }
});

test("a search in many lists asks the game platform once", function* () {
  const names: Array<string> = [];
  const { firstIn } = yield* Effect.provide(OwnedLinks, layerAsking([], names));
  const found = yield* firstIn(
    Array.from({ length: 30 }, () => scope),
    "nobody",
    3,
  );
  expect(names).toEqual(["nobody"]);
  expect(found).toHaveLength(30);
});
