/** For tests: all services in memory. */
import { CacheMemory } from "@accountlink/cache-memory";
import { PlatformMemory } from "@accountlink/platform-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Layer, Option, Redacted } from "effect";
import { Digest, SecureRandom } from "effect/crypto";
import * as AccountLink from "./account_link.ts";
import { type ClientAddress, parseAddress } from "./addresses/client_address.ts";
import type { DataScope } from "./data_scope.ts";
import type { PlatformFixture } from "./fixture/fixture.ts";
import type { ChatId, GameId, GuildId, SessionId, Sid } from "./ids.ts";
import type { NewAccount } from "./keys/api_key.ts";
import { ApiKeys } from "./keys/api_keys.ts";
import { Secrets } from "./secrets/secrets.ts";

export const chatId = (id: string) => id as ChatId;
export const gameId = (id: string) => id as GameId;
export const guildId = "700000000000000001" as GuildId;
export const botlessGuildId = "700000000000000002" as GuildId;

const member = (id: string) => ({
  chatId: chatId(id),
  manager: false,
  nickname: `nick ${id}`,
  joined: null,
  roles: [],
});
const chatUser = (id: string) => ({
  id: chatId(id),
  username: `chat ${id}`,
  displayName: null,
  avatar: null,
  banner: null,
  created: null,
});
const gameUser = (id: string) => ({
  id: gameId(id),
  username: `game ${id}`,
  displayName: null,
  description: null,
  created: null,
  isBanned: false,
  hasVerifiedBadge: false,
  avatar: null,
  badges: [],
  groups: [],
});

/** Chat users 10001 to 10030, the first ten of them in the guild; game users 1 to 9. */
export const platform: PlatformFixture = {
  guilds: [
    {
      id: guildId,
      name: "Engine Room",
      bot: true,
      members: Array.from({ length: 10 }, (_, index) => member(String(10_001 + index))),
    },
    { id: botlessGuildId, name: null, bot: false, members: [member("10001")] },
  ],
  chatUsers: Array.from({ length: 30 }, (_, index) => chatUser(String(10_001 + index))),
  gameUsers: Array.from({ length: 9 }, (_, index) => gameUser(String(index + 1))),
};

const secretOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte));

/** Caches session ids: Web Crypto is asynchronous, and tests with a test clock do not wait for it. */
const secrets = Layer.effect(
  Secrets,
  Effect.map(Secrets, (slow) => {
    const known = new Map<Sid, SessionId>();
    const hash = (sid: Sid) => Effect.tap(slow.sessionId(sid), (id) => Effect.sync(() => known.set(sid, id)));
    return {
      ...slow,
      sessionId: (sid) =>
        Option.match(Option.fromUndefinedOr(known.get(sid)), {
          onNone: () => hash(sid),
          onSome: Effect.succeed,
        }),
    };
  }),
).pipe(Layer.provide(Secrets.layerWebCrypto(secretOf(7))));

/** Everything but the platforms. */
export const stores = Layer.mergeAll(
  StorageMemory.layer,
  CacheMemory.layer,
  secrets,
  SecureRandom.layerWebCrypto,
  Digest.layerWebCrypto,
);

/** All services. Each use of the layer is a new world. */
export const world = AccountLink.layer.pipe(
  Layer.provideMerge(Layer.merge(stores, PlatformMemory.layer(platform))),
  Layer.fresh,
);

export const operator = { actor: { type: "operator", id: "test" }, requestId: null } as const;

/** The global scope and the guild's scope of an account. */
export const scopes = Effect.gen(function* () {
  const keys = yield* ApiKeys;
  const acme: NewAccount = { name: "acme", chatId: null, tier: "premium" };
  const global = yield* keys.scopeOf(acme, { kind: "global" });
  const guild = yield* keys.scopeOf(acme, { kind: "guild", guildId });
  return { global, guild } satisfies Record<string, DataScope>;
});

export const address = (text: string): ClientAddress => Option.getOrThrow(parseAddress(text));
