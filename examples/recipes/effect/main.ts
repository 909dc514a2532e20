/**
 * Runs the services of `@accountlink/core` in your own process or in a browser, with Effect and with storage in memory.
 */

import { AccountLink, ApiKeys, ChatId, GameId, LinkLookup, LinkWriter } from "@accountlink/core";
import { CacheMemory, PlatformMemory, StorageMemory } from "@accountlink/memory";
import { Console, Effect, Layer, Redacted } from "effect";

const player = {
  id: GameId.make("1"),
  username: "ada_plays",
  displayName: "Ada",
  description: null,
  created: null,
  isBanned: false,
  hasVerifiedBadge: false,
  avatar: null,
  badges: [],
  groups: [],
};

const ports = Layer.mergeAll(
  StorageMemory.layer,
  CacheMemory.layer,
  PlatformMemory.layer({ guilds: [], chatUsers: [], gameUsers: [player] }),
);
const secret = Redacted.make(crypto.getRandomValues(new Uint8Array(32)));
const services = AccountLink.layerWebCrypto(secret).pipe(Layer.provideMerge(ports));

const program = Effect.gen(function* () {
  const keys = yield* ApiKeys;
  const writer = yield* LinkWriter;
  const lookup = yield* LinkLookup;
  const scope = yield* keys.scopeOf({ name: "acme", chatId: null, tier: "premium" }, { kind: "global" });
  const origin = { actor: { type: "operator", id: "recipe" }, requestId: null } as const;

  const chatId = ChatId.make("100001");
  yield* writer.setGame({ scope, guildId: null, origin }, { chatId, gameId: player.id });
  const status = yield* lookup.verification(scope, chatId, { resolved: true });
  yield* Console.log(`Linked: version ${status.linkVersion}, ${status.resolved.game?.displayName}`);

  const stranger = lookup.byChat(scope, ChatId.make("100002"));
  yield* Effect.catchTag(stranger, "LinkNotFound", ({ message }) => Console.log(`Refused: ${message}`));
});

await Effect.runPromise(Effect.provide(program, services));
