/**
 * The layers that a plan picks: the one place where adapters and services meet.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { CacheRedis } from "@accountlink/cache-redis";
import {
  AccountLink,
  AuditRetention,
  type DeploymentSecrets,
  Limits,
  type PlatformFixture,
  ResilientCounters,
  SessionSettings,
} from "@accountlink/core";
import { type Effect, Layer } from "effect";
import { deploymentKeysLayer } from "./deployment_keys.ts";
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
  secrets: DeploymentSecrets,
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
    Layer.succeed(AuditRetention, config.ACCOUNTLINK_AUDIT_RETENTION),
  );
  const ports = Layer.merge(
    deploymentKeysLayer(config, storage, secrets),
    platformLayer(platform, fixture, publicUrl),
  ).pipe(Layer.provideMerge(storageLayer(storage, { exclusive: true, startTimeout })));
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
