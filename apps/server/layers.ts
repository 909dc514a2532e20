/**
 * The layers that a plan picks: the one place where adapters and services meet.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { CacheRedis } from "@accountlink/cache-redis";
import {
  AccountLink,
  AddressVault,
  Limits,
  type PlatformFixture,
  ResilientCounters,
  Secrets,
  SessionSettings,
} from "@accountlink/core";
import { type Effect, Layer, type Redacted } from "effect";
import type { Config } from "./config.ts";
import { cryptoLayer } from "./internal/crypto.ts";
import { storageLayer } from "./internal/storage_layer.ts";
import type { Cache, Plan } from "./plan.ts";
import { platformLayer } from "./platform_layers.ts";

/**
 * Everything that the HTTP application works with.
 *
 * @param fixture what the dev platform plays
 * @param publicUrl where users reach the service, waited for until it is known
 */
export const serviceLayer = (
  plan: Plan,
  secret: Redacted.Redacted<Uint8Array>,
  fixture: PlatformFixture,
  publicUrl: Effect.Effect<string>,
) => {
  const { config, storage, cache, platform, limits, sessions } = plan;
  const startTimeout = config.ACCOUNTLINK_DATABASE_START_TIMEOUT;
  const shared = Layer.mergeAll(
    cacheLayer(cache),
    cryptoLayer,
    Layer.succeed(Limits, limits),
    Layer.succeed(SessionSettings, sessions),
  );
  const ports = Layer.mergeAll(
    storageLayer(storage, cache, { exclusive: true, startTimeout }),
    platformLayer(platform, fixture, publicUrl),
    Secrets.layer(secret),
    AddressVault.layer(addressKeys(config, secret)),
  );
  // Counters in memory cannot fail; what they need is to have the day back after a restart.
  const counters = ResilientCounters.layer(cache.kind === "redis" ? { local: CacheMemory.layer } : {});
  return AccountLink.layerFlows.pipe(
    Layer.provideMerge(AccountLink.layer),
    Layer.provideMerge(counters),
    Layer.provideMerge(ports),
    Layer.provideMerge(shared),
  );
};

/** Limits, short-lived values and signals. */
const cacheLayer = (cache: Cache) => (cache.kind === "memory" ? CacheMemory.layer : CacheRedis.layer(cache));

/** The keys that addresses are protected with: those of the configuration, or else one made of the secret. */
const addressKeys = ({ ACCOUNTLINK_ADDRESS_KEYS: keys }: Config, secret: Redacted.Redacted<Uint8Array>) =>
  keys.size > 0 ? keys : new Map([["secret", secret]]);
