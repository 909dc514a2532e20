/** All services in memory, for tests. */
import { CacheMemory, PlatformMemory, StorageMemory } from "@accountlink/memory";
import { aheadBy } from "@accountlink/test-servers/effect";
import { aChatUser, aGameUser, aMember, MemoryWorld } from "@accountlink/testing";
import { Duration, Effect, Exit, Layer, Option, Redacted, Scope } from "effect";
import { Digest, SecureRandom } from "effect/crypto";
import * as AccountLink from "./account_link.ts";
import { AddressVault } from "./addresses/address_vault.ts";
import { type ClientAddress, parseAddress } from "./addresses/client_address.ts";
import type { DataScope } from "./data_scope.ts";
import { StoreUnavailable } from "./errors.ts";
import type { PlatformFixture } from "./fixture/fixture.ts";
import type { ChatId, GameId, GuildId } from "./ids.ts";
import type { NewAccount } from "./keys/api_key.ts";
import { ApiKeys } from "./keys/api_keys.ts";
import type { ChatPlatform } from "./platforms/chat_platform.ts";
import type { GamePlatform } from "./platforms/game_platform.ts";
import { webCrypto } from "./secrets/crypto.ts";

export const chatId = (id: string) => id as ChatId;
export const gameId = (id: string) => id as GameId;
export const guildId = "700000000000000001" as GuildId;
export const botlessGuildId = "700000000000000002" as GuildId;

const chatIds = Array.from({ length: 30 }, (_, index) => String(10_001 + index));
const gameIds = Array.from({ length: 9 }, (_, index) => String(index + 1));

/** Chat users 10001 to 10030, the first ten of them in the guild; game users 1 to 9. */
export const platform: PlatformFixture = {
  guilds: [
    {
      id: guildId,
      name: "Engine Room",
      bot: true,
      members: chatIds.slice(0, 10).map((id) => aMember(id, { nickname: `nick ${id}` })),
    },
    { id: botlessGuildId, name: null, bot: false, members: [aMember("10001", { nickname: "nick 10001" })] },
  ],
  chatUsers: chatIds.map((id) => aChatUser(id, { username: `chat ${id}` })),
  gameUsers: gameIds.map((id) => aGameUser(id, { username: `game ${id}` })),
};

/** All ports except the platforms. */
export const stores = Layer.mergeAll(
  StorageMemory.layer,
  CacheMemory.layer,
  MemoryWorld.secrets,
  SecureRandom.layerWebCrypto,
  Digest.layerWebCrypto,
);

/** All services on these platforms. Each use of the layer has its own stores. */
export const servicesOn = (platforms: Layer.Layer<ChatPlatform | GamePlatform>) =>
  AccountLink.layer.pipe(Layer.provideMerge(Layer.merge(stores, platforms)), Layer.fresh);

export const services = servicesOn(PlatformMemory.layer(platform));

/** A vault with these keys, the newest first. A number always has the same key. */
export const vaultWith = (...numbers: ReadonlyArray<number>) =>
  AddressVault.layer(new Map(numbers.map((number) => [`k${number}`, addressKey(number)]))).pipe(
    Layer.provideMerge(webCrypto),
  );

export const addressKey = (number: number) => Redacted.make(new Uint8Array(32).fill(number));

export const operator = { actor: { type: "operator", id: "test" }, requestId: null } as const;

/**
 * Runs effects with a clock that is ahead by `time`. Background fibers keep their own clock, so their intervals do not
 * run.
 */
export const later = (time: Duration.Input) => aheadBy(() => Duration.toMillis(time));

/** The global scope and the guild scope of the account `acme`. */
export const scopes = Effect.gen(function* () {
  const keys = yield* ApiKeys;
  const acme: NewAccount = { name: "acme", chatId: null, tier: "premium" };
  const global = yield* keys.scopeOf(acme, { kind: "global" });
  const guild = yield* keys.scopeOf(acme, { kind: "guild", guildId });
  return { global, guild } satisfies Record<string, DataScope>;
});

export const address = (text: string): ClientAddress => Option.getOrThrow(parseAddress(text));

/**
 * Starts a node that can be stopped, or disconnected from its store.
 *
 * @param layerOn makes the node's services from a store
 */
export const startNodeOn = Effect.fnUntraced(function* <Store extends object, A, E, R>(
  store: Store,
  layerOn: (store: Store) => Layer.Layer<A, E, R>,
) {
  let isCut = false;
  const reachable = new Proxy(store, {
    get: (target, operation, receiver) =>
      isCut
        ? () => Effect.fail(new StoreUnavailable({ operation: String(operation) }))
        : (Reflect.get(target, operation, receiver) as unknown),
  });
  const scope = yield* Scope.make();
  yield* Layer.buildWithScope(Layer.fresh(layerOn(reachable)), scope);
  return {
    stop: Scope.close(scope, Exit.void),
    cut: () => {
      isCut = true;
    },
  };
});
