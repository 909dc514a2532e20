import { PlatformMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "../account_link.ts";
import type { GuildId } from "../ids.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { chatId, platform, stores, vaultWith } from "../test_services.ts";
import { OwnSightings } from "./own_data.ts";

const silent = Layer.effect(
  ChatPlatform,
  Effect.map(ChatPlatform, (asked) => ({ ...asked, findGuild: () => Effect.never })),
).pipe(Layer.provideMerge(PlatformMemory.layer(platform)));

testWith(
  Layer.provideMerge(AccountLink.layerUsers, AccountLink.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(stores, silent, vaultWith(1))),
    Layer.fresh,
  ),
)("while the platform is silent, the sightings of many guilds wait for it once", function* () {
  const ada = chatId("10001");
  const keys = yield* ApiKeys;
  const store = yield* SessionStore;
  const acme = { name: "acme", chatId: null, tier: "free" } as const;
  for (const guildId of ["700000000000000001", "700000000000000002", "700000000000000003"] as GuildId[]) {
    const { pid } = yield* keys.scopeOf(acme, { kind: "guild", guildId });
    yield* store.recordSightings(pid, [
      { chatId: ada, seenAt: 0, address: { hash: "place", sealed: "sealed", addressKeyId: "1" } },
      { chatId: ada, seenAt: 0, browser: "browser" },
    ]);
  }
  const own = yield* OwnSightings;
  assert.deepStrictEqual(yield* own.count(ada), { sightings: 1, browsers: 1 });
  const listing = yield* Effect.forkChild(own.list(ada), { startImmediately: true });
  yield* TestClock.adjust("1 second");
  assert.isDefined(listing.pollUnsafe());
  const { addresses, browsers } = yield* Fiber.join(listing);
  for (const [place] of [addresses, browsers]) {
    const names = place?.communities.map(({ guild }) => guild?.name);
    assert.deepStrictEqual(names, [null, null, null]);
  }
});
