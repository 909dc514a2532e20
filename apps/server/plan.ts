/**
 * What a configuration amounts to: which storage, which platform, which data.
 */
import { join } from "node:path";
import type { LimitSettings, SessionRules } from "@accountlink/core";
import { Effect, type Redacted } from "effect";
import { type Config, type InvalidConfig, missing, type VariableName } from "./config.ts";

/** Where links and keys live. */
export type Storage =
  | { readonly kind: "memory" }
  | { readonly kind: "embedded"; readonly folder: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted; readonly maxConnections: number };

/** Where limits are counted, and nodes tell each other of changes. */
export type Cache =
  | { readonly kind: "memory" }
  | { readonly kind: "redis"; readonly url: Redacted.Redacted; readonly prefix: string };

/** The platforms that are asked. */
export type Platform =
  | { readonly kind: "dev"; readonly port: number }
  | {
      readonly kind: "live";
      /** Where the platforms send users back to, and what they are told of who asks. */
      readonly publicUrl: string;
      readonly chat: Application & { readonly botToken: Redacted.Redacted };
      readonly game: Application;
    };

/** This service as an application registered at a live platform. The addresses are the platform's own when left out. */
interface Application {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  readonly apiUrl: string | undefined;
  readonly authorizationUrl: string | undefined;
}

/** What to run, worked out from the configuration. */
export interface Plan {
  readonly config: Config;
  /** With nothing named, a demo: its own folder, its own fixture and keys. */
  readonly demo: boolean;
  readonly storage: Storage;
  readonly cache: Cache;
  readonly platform: Platform;
  readonly limits: LimitSettings;
  readonly sessions: SessionRules;
}

/** Works out the storage, or refuses one of which something is missing. */
export const storageOf = (config: Config): Effect.Effect<Storage, InvalidConfig> => {
  if (config.ACCOUNTLINK_STORAGE === "memory") return Effect.succeed({ kind: "memory" });
  if (config.ACCOUNTLINK_STORAGE === "postgres") {
    const url = config.ACCOUNTLINK_DATABASE_URL;
    const maxConnections = config.ACCOUNTLINK_DATABASE_CONNECTIONS;
    return url === null
      ? missing("ACCOUNTLINK_DATABASE_URL", "ACCOUNTLINK_STORAGE is postgres")
      : Effect.succeed({ kind: "postgres", url, maxConnections });
  }
  // Joined also when alone, so that a path reads the same wherever it is told.
  const folder = join(config.ACCOUNTLINK_DATA_DIR, isDemo(config) ? "demo" : "");
  return Effect.succeed({ kind: "embedded", folder });
};

/** Works out the cache, or refuses one of which something is missing. */
export const cacheOf = (config: Config): Effect.Effect<Cache, InvalidConfig> => {
  if (config.ACCOUNTLINK_CACHE === "memory") return Effect.succeed({ kind: "memory" });
  const url = config.ACCOUNTLINK_REDIS_URL;
  return url === null
    ? missing("ACCOUNTLINK_REDIS_URL", "ACCOUNTLINK_CACHE is redis")
    : Effect.succeed({ kind: "redis", url, prefix: config.ACCOUNTLINK_REDIS_PREFIX });
};

/** Works out the platforms, or refuses live ones of which something is missing, and a dev one that nobody chose. */
export const platformOf = (config: Config): Effect.Effect<Platform, InvalidConfig> => {
  if (config.ACCOUNTLINK_PLATFORM === "live") return livePlatformOf(config);
  const doubt = config.ACCOUNTLINK_PLATFORM === null ? devDoubt(config) : null;
  return doubt === null
    ? Effect.succeed({ kind: "dev", port: config.ACCOUNTLINK_DEV_PLATFORM_PORT })
    : missing("ACCOUNTLINK_PLATFORM", doubt);
};

/** Why the dev platform, where anyone can be anybody, is not taken unless it is named; null where it is. */
const devDoubt = (config: Config): string | null => {
  if (config.ACCOUNTLINK_STORAGE === "postgres") return "ACCOUNTLINK_STORAGE is postgres";
  if (config.ACCOUNTLINK_PUBLIC_URL?.startsWith("https:")) return "ACCOUNTLINK_PUBLIC_URL is https";
  return isDemo(config) || config.ACCOUNTLINK_FIXTURE !== null
    ? null
    : "this is not the demo, and there is no fixture";
};

const livePlatformOf = Effect.fnUntraced(function* (config: Config) {
  const needed = <Name extends VariableName>(name: Name) => {
    const value = config[name];
    return value === null ? missing(name, "ACCOUNTLINK_PLATFORM is live") : Effect.succeed(value);
  };
  return {
    kind: "live" as const,
    publicUrl: yield* needed("ACCOUNTLINK_PUBLIC_URL"),
    chat: {
      botToken: yield* needed("ACCOUNTLINK_CHAT_BOT_TOKEN"),
      clientId: yield* needed("ACCOUNTLINK_CHAT_CLIENT_ID"),
      clientSecret: yield* needed("ACCOUNTLINK_CHAT_CLIENT_SECRET"),
      apiUrl: config.ACCOUNTLINK_CHAT_API_URL ?? undefined,
      authorizationUrl: config.ACCOUNTLINK_CHAT_AUTHORIZATION_URL ?? undefined,
    },
    game: {
      clientId: yield* needed("ACCOUNTLINK_GAME_CLIENT_ID"),
      clientSecret: yield* needed("ACCOUNTLINK_GAME_CLIENT_SECRET"),
      apiUrl: config.ACCOUNTLINK_GAME_API_URL ?? undefined,
      authorizationUrl: config.ACCOUNTLINK_GAME_AUTHORIZATION_URL ?? undefined,
    },
  };
});

/** Whether nothing is named that a service of one's own would have. */
export const isDemo = (config: Config): boolean =>
  config.ACCOUNTLINK_STORAGE === null &&
  config.ACCOUNTLINK_FIXTURE === null &&
  config.ACCOUNTLINK_PLATFORM !== "live";

/** Works out what to run, or refuses what does not go together. */
export const planOf = (config: Config): Effect.Effect<Plan, InvalidConfig> =>
  Effect.map(
    Effect.all([platformOf(config), storageOf(config), cacheOf(config)]),
    ([platform, storage, cache]) => ({
      config,
      demo: isDemo(config),
      storage,
      cache,
      platform,
      limits: limitsOf(config),
      sessions: sessionsOf(config),
    }),
  );

/** The limits that the configuration sets. */
export const limitsOf = (config: Config): LimitSettings => ({
  free: tierLimits(config, "FREE"),
  premium: tierLimits(config, "PREMIUM"),
  address: {
    perSecond: config.ACCOUNTLINK_IP_PER_SECOND,
    daily: config.ACCOUNTLINK_IP_DAILY,
    verifyDaily: config.ACCOUNTLINK_IP_VERIFY_DAILY,
    authFailures: config.ACCOUNTLINK_IP_AUTH_FAILURES,
  },
});

const tierLimits = (config: Config, tier: "FREE" | "PREMIUM") => ({
  keys: config[`ACCOUNTLINK_${tier}_KEYS`],
  perWindow: config[`ACCOUNTLINK_${tier}_PER_WINDOW`],
  windowMs: config[`ACCOUNTLINK_${tier}_WINDOW`],
  daily: config[`ACCOUNTLINK_${tier}_DAILY`],
  verifyDaily: config[`ACCOUNTLINK_${tier}_VERIFY_DAILY`],
});

const sessionsOf = (config: Config): SessionRules => ({
  life: config.ACCOUNTLINK_SESSION_TTL,
  pollInterval: config.ACCOUNTLINK_POLL_INTERVAL,
  pollLimit: config.ACCOUNTLINK_POLL_LIMIT,
  longPollMax: config.ACCOUNTLINK_LONG_POLL_MAX,
  streamMax: config.ACCOUNTLINK_STREAM_MAX,
  createBurst: config.ACCOUNTLINK_SESSION_CREATE_BURST,
  createRefill: config.ACCOUNTLINK_SESSION_CREATE_REFILL,
  sightingRetention: config.ACCOUNTLINK_SIGHTING_RETENTION,
});
