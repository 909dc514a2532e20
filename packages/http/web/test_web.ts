import {
  AccountLink,
  AddressVault,
  ApiKeys,
  type ChatId,
  type GameId,
  type GuildId,
  NetworkIntelligence,
} from "@accountlink/core";
import { StoreUnavailable } from "@accountlink/core/errors";
import type { NewKey } from "@accountlink/core/keys";
import { Limits } from "@accountlink/core/limits";
import { CacheMemory, PlatformMemory, StorageMemory } from "@accountlink/memory";
import { makePages } from "@accountlink/pages";
import { Effect, Layer, ManagedRuntime, Redacted } from "effect";
import { Aead, Kdf, Mac, SecureRandom } from "effect/crypto";
import { makeWebHandler, type WebHandlerOptions } from "./web_handler.ts";

const newSecret = () => Redacted.make(crypto.getRandomValues(new Uint8Array(32)));

const chatId = "100001" as ChatId;
const user = { username: "ada", displayName: "Ada", created: null };
const gameUser = { ...user, isBanned: false, hasVerifiedBadge: false, avatar: null, badges: [], groups: [] };
const manager = { chatId, manager: true, nickname: null, joined: null, roles: [] };

/** Data of both platforms: a guild that the chat user manages, and the game users 1 and 2. */
const platform = {
  guilds: [{ id: "700000000000000001" as GuildId, name: "Engine Room", bot: true, members: [manager] }],
  chatUsers: [{ ...user, id: chatId, avatar: null, banner: null }],
  gameUsers: ["1", "2"].map((id) => ({ ...gameUser, id: id as GameId, description: null })),
};

const crypt = Layer.mergeAll(Aead.layerWebCrypto, Kdf.layerWebCrypto, Mac.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto),
);

const usual = Limits.defaultValue();
const limits = { ...usual, address: { ...usual.address, perSecond: 0, pagesPerSecond: 0 } };

/** All services, with empty stores in memory. Client addresses have no limits per second. */
const services = AccountLink.layerWeb.pipe(
  Layer.provideMerge(AccountLink.layerWebCrypto(newSecret())),
  Layer.provideMerge(
    Layer.mergeAll(
      StorageMemory.layer,
      CacheMemory.layer,
      PlatformMemory.layer(platform),
      PlatformMemory.layerIdentities(platform),
      AddressVault.layer(new Map([["k1", newSecret()]])).pipe(Layer.provide(crypt)),
      NetworkIntelligence.none,
      Layer.succeed(Limits, limits),
    ),
  ),
);

/** A handler whose services fail to start the first time. */
export const failingOnce = () => {
  let starts = 0;
  const layer = Layer.unwrap(
    Effect.suspend(() =>
      ++starts === 1
        ? Effect.fail(new StoreUnavailable({ operation: "tests", cause: "down" }))
        : Effect.succeed(services),
    ),
  );
  const handler = makeWebHandler(layer, { publicUrl: "https://ours.example", clientAddress: "given" });
  return { handler, starts: () => starts };
};

const origin = { actor: { type: "operator", id: "tests" }, requestId: null } as const;

export const makeWeb = () => {
  const runtime = ManagedRuntime.make(services);
  let accounts = 0;
  return {
    handler: (options: Partial<WebHandlerOptions> = {}) =>
      makeWebHandler(Layer.effectContext(runtime.contextEffect), {
        publicUrl: "https://ours.example",
        clientAddress: "given",
        pages: makePages,
        ...options,
      }),

    /** Creates a key, unlimited unless limits are given, and returns its token. */
    newKey: (rules: Pick<NewKey, "allowIps" | "limits"> = {}) => {
      const account = { name: `account ${++accounts}`, chatId: null, tier: "premium" } as const;
      const key = { account, target: { kind: "global" }, limits: "none", ...rules } as const;
      const created = ApiKeys.use((keys) => keys.create(key, origin));
      return runtime.runPromise(Effect.map(created, ({ token }) => token));
    },

    stop: () => runtime.dispose(),
  };
};
