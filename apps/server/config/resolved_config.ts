/** Derives choices from the variables: storage, cache, platforms, limits, and whether this is the demo. */
import { join } from "node:path";
import { type GameWay, gameWays } from "@accountlink/core/flow";
import type { LimitSettings } from "@accountlink/core/limits";
import type { SessionRules } from "@accountlink/core/sessions";
import type {
  HttpGameIdentityOptions,
  HttpGameOptions,
  LiveChatIdentityOptions,
  LiveChatPlatformOptions,
  LiveGameIdentityOptions,
  LiveGamePlatformOptions,
} from "@accountlink/platforms/live";
import { parsePostgresUrl } from "@accountlink/sql/postgres_url";
import { Context, Effect, Redacted } from "effect";
import { type Config, InvalidConfig, missing, type VariableName } from "./config.ts";
import { limitsOf } from "./limits.ts";
import { isPostgresUrl, isStorageUrl, placeOf } from "./store_url.ts";

export type Storage =
  | { readonly kind: "memory" }
  | { readonly kind: "embedded"; readonly folder: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted; readonly maxConnections: number }
  | { readonly kind: "redis"; readonly url: Redacted.Redacted; readonly prefix: string };

/** The store that counts requests for the limits, and through which nodes signal changes to each other. */
export type Cache =
  | { readonly kind: "memory" }
  | { readonly kind: "redis"; readonly url: Redacted.Redacted; readonly prefix: string };

/** With `none`, no platform is asked: the service trusts the caller, and nobody can sign in. */
export type Platform =
  | { readonly kind: "none" }
  | { readonly kind: "dev"; readonly port: number }
  | {
      readonly kind: "live";
      /**
       * The base URL of this service. OAuth redirect URIs start with it, and the User-Agent of requests to Discord
       * contains it.
       */
      readonly publicUrl: string;
      readonly chat: Omit<LiveChatIdentityOptions, "publicUrl"> & Pick<LiveChatPlatformOptions, "botToken">;
      readonly game: LiveGame;
    };

/** Without a client, nobody can sign in at the game platform. */
export type LiveGame =
  | (LiveGamePlatformOptions &
      Pick<LiveGameIdentityOptions, "authorizationUrl"> & {
        readonly kind: "roblox";
        readonly client: Pick<LiveGameIdentityOptions, "clientId" | "clientSecret"> | undefined;
      })
  | (HttpGameOptions & { readonly kind: "http"; readonly client: HttpGameIdentityOptions | undefined });

export interface ResolvedConfig {
  readonly config: Config;
  /** Whether this is the demo, which has its own data folder, fixture and keys. */
  readonly demo: boolean;
  readonly storage: Storage;
  readonly cache: Cache;
  readonly platform: Platform;
  /** The ways to prove a game account that are on, in the order in which pages offer them. */
  readonly gameWays: ReadonlyArray<GameWay>;
  readonly limits: LimitSettings;
  readonly sessions: SessionRules;
}

/** Fails if the storage needs a variable that is not set. */
export const storageOf = (config: Config): Effect.Effect<Storage, InvalidConfig> => {
  switch (config.ACCOUNTLINK_STORAGE) {
    case "memory":
      return Effect.succeed({ kind: "memory" });
    case "embedded":
    case null:
      // `join` normalizes the path of the data folder, so that every message shows the same path.
      return Effect.succeed({
        kind: "embedded",
        folder: join(config.ACCOUNTLINK_DATA_DIR, isDemo(config) ? demoFolder(config) : ""),
      });
    case "postgres":
      return Effect.map(postgresUrlOf(config), (url) => ({
        kind: "postgres",
        url,
        maxConnections: config.ACCOUNTLINK_DATABASE_CONNECTIONS,
      }));
    case "redis":
      return Effect.map(databaseUrlOf(config, "redis", isStorageUrl), (url) => ({
        kind: "redis",
        url,
        prefix: config.ACCOUNTLINK_REDIS_PREFIX,
      }));
  }
};

/** The URL of Postgres. Its parameters are checked before the server starts, for a problem that names the variable. */
const postgresUrlOf = (config: Config) =>
  Effect.tap(databaseUrlOf(config, "postgres", isPostgresUrl), (url) =>
    Effect.mapError(
      parsePostgresUrl(url),
      ({ message }) => new InvalidConfig({ problem: `ACCOUNTLINK_DATABASE_URL is refused: ${message}` }),
    ),
  );

/** The URL of the database, which has to be one of the storage. */
const databaseUrlOf = (
  { ACCOUNTLINK_DATABASE_URL: url }: Config,
  storage: "postgres" | "redis",
  isOf: (url: string) => boolean,
): Effect.Effect<Redacted.Redacted, InvalidConfig> => {
  if (url === null) return missing("ACCOUNTLINK_DATABASE_URL", `ACCOUNTLINK_STORAGE is ${storage}`);
  return isOf(Redacted.value(url))
    ? Effect.succeed(url)
    : new InvalidConfig({
        problem: `ACCOUNTLINK_DATABASE_URL is no URL of ${storage}, expected one since ACCOUNTLINK_STORAGE is ${storage}`,
      });
};

/** Fails if the cache needs a variable that is not set. */
export const cacheOf = (config: Config): Effect.Effect<Cache, InvalidConfig> => {
  if (config.ACCOUNTLINK_CACHE === "memory") return Effect.succeed({ kind: "memory" });
  const url = config.ACCOUNTLINK_REDIS_URL;
  return url === null
    ? missing("ACCOUNTLINK_REDIS_URL", "ACCOUNTLINK_CACHE is redis")
    : Effect.succeed({ kind: "redis", url, prefix: config.ACCOUNTLINK_REDIS_PREFIX });
};

/**
 * Returns the platform, which is `dev` by default. Fails if the live platforms need a variable that is not set, or if
 * `dev` must be chosen explicitly but is not.
 */
const platformOf = (config: Config): Effect.Effect<Platform, InvalidConfig> => {
  if (config.ACCOUNTLINK_PLATFORM === "live") return livePlatformOf(config);
  if (config.ACCOUNTLINK_PLATFORM === "none") return Effect.succeed({ kind: "none" });
  const risk = config.ACCOUNTLINK_PLATFORM === null ? devRisk(config) : null;
  return risk === null
    ? Effect.succeed({ kind: "dev", port: config.ACCOUNTLINK_DEV_PLATFORM_PORT })
    : missing("ACCOUNTLINK_PLATFORM", `${risk}; on dev anyone can sign in as anybody`);
};

/**
 * On the dev platform, anyone can sign in as anybody. Returns why the configuration must choose this platform
 * explicitly. Returns null if the dev platform may be the default: with a fixture, or in the demo without a public
 * https URL.
 */
const devRisk = (config: Config): string | null => {
  if (config.ACCOUNTLINK_FIXTURE !== null) return null;
  if (config.ACCOUNTLINK_PUBLIC_URL?.startsWith("https:")) return "ACCOUNTLINK_PUBLIC_URL is https";
  return isDemo(config) ? null : "this is not the demo, and there is no fixture";
};

/** By default, live platforms leave out the ways for which a variable is missing. */
const gameWaysOf = (config: Config): ReadonlyArray<GameWay> => {
  const { ACCOUNTLINK_GAME_PROOFS: chosen, ACCOUNTLINK_PLATFORM: platform } = config;
  if (chosen !== null) return chosen;
  if (platform !== "live") return gameWays;
  const isOwnGame = config.ACCOUNTLINK_GAME_URL !== null;
  const isOn: Partial<Record<GameWay, boolean>> = {
    connection: !isOwnGame || config.ACCOUNTLINK_GAME_CONNECTION !== null,
    oauth:
      config.ACCOUNTLINK_GAME_CLIENT_ID !== null || (isOwnGame && config.ACCOUNTLINK_GAME_ISSUER !== null),
  };
  return gameWays.filter((way) => isOn[way] ?? true);
};

const ofOwnGame = [
  "ACCOUNTLINK_GAME_TOKEN",
  "ACCOUNTLINK_GAME_CONNECTION",
  "ACCOUNTLINK_GAME_ISSUER",
  "ACCOUNTLINK_GAME_CLAIM",
] as const satisfies ReadonlyArray<VariableName>;

/** Fails if a game of one's own lacks its address or the platform on which it is the game. */
const checkOwnGame = (config: Config): Effect.Effect<void, InvalidConfig> => {
  if (config.ACCOUNTLINK_GAME_URL === null) {
    const without = ofOwnGame.find((name) => config[name] !== null);
    return without === undefined ? Effect.void : missing("ACCOUNTLINK_GAME_URL", `${without} is set`);
  }
  if (config.ACCOUNTLINK_PLATFORM === "live") return Effect.void;
  return config.ACCOUNTLINK_PLATFORM === null
    ? missing("ACCOUNTLINK_PLATFORM", "live since ACCOUNTLINK_GAME_URL is set")
    : new InvalidConfig({
        problem: `ACCOUNTLINK_PLATFORM is "${config.ACCOUNTLINK_PLATFORM}", expected live (ACCOUNTLINK_GAME_URL is set)`,
      });
};

const livePlatformOf = (config: Config): Effect.Effect<Platform, InvalidConfig> => {
  const absent: Array<VariableName> = [];
  const needed: Needed = (name) => {
    const value = config[name];
    if (value === null) absent.push(name);
    return value as NonNullable<typeof value>;
  };
  const platform = {
    kind: "live" as const,
    publicUrl: needed("ACCOUNTLINK_PUBLIC_URL"),
    chat: {
      botToken: needed("ACCOUNTLINK_CHAT_BOT_TOKEN"),
      clientId: needed("ACCOUNTLINK_CHAT_CLIENT_ID"),
      clientSecret: needed("ACCOUNTLINK_CHAT_CLIENT_SECRET"),
      apiUrl: config.ACCOUNTLINK_CHAT_API_URL ?? undefined,
      authorizationUrl: config.ACCOUNTLINK_CHAT_AUTHORIZATION_URL ?? undefined,
      connection: config.ACCOUNTLINK_GAME_CONNECTION ?? undefined,
    },
    game: gameOf(config, needed),
  };
  const [first, ...others] = absent;
  return first === undefined
    ? Effect.succeed(platform)
    : missing(
        first,
        config.ACCOUNTLINK_GAME_URL !== null && first.startsWith("ACCOUNTLINK_GAME_")
          ? "ACCOUNTLINK_GAME_URL is set"
          : "ACCOUNTLINK_PLATFORM is live",
        others,
      );
};

/** Returns the value of a variable, and remembers the ones that are not set. */
type Needed = <Name extends VariableName>(name: Name) => NonNullable<Config[Name]>;

const gameOf = (config: Config, needed: Needed): LiveGame => {
  const ways = gameWaysOf(config);
  const clientOf = () => ({
    clientId: needed("ACCOUNTLINK_GAME_CLIENT_ID"),
    clientSecret: needed("ACCOUNTLINK_GAME_CLIENT_SECRET"),
  });
  if (config.ACCOUNTLINK_GAME_URL === null) {
    return {
      kind: "roblox",
      client: ways.includes("oauth") ? clientOf() : undefined,
      apiKey: config.ACCOUNTLINK_GAME_API_KEY ?? undefined,
      apiUrl: config.ACCOUNTLINK_GAME_API_URL ?? undefined,
      authorizationUrl: config.ACCOUNTLINK_GAME_AUTHORIZATION_URL ?? undefined,
    };
  }
  const token = needed("ACCOUNTLINK_GAME_TOKEN");
  needed("ACCOUNTLINK_GAME_NAME");
  if (ways.includes("connection")) needed("ACCOUNTLINK_GAME_CONNECTION");
  const client = ways.includes("oauth")
    ? {
        issuer: needed("ACCOUNTLINK_GAME_ISSUER"),
        ...clientOf(),
        claim: config.ACCOUNTLINK_GAME_CLAIM ?? undefined,
      }
    : undefined;
  return { kind: "http", url: config.ACCOUNTLINK_GAME_URL, token, client };
};

/** Each amount of data has a folder of its own, so that the big demo changes no other data. */
const demoFolder = ({ ACCOUNTLINK_DATA: amount }: Config): string => (amount === "big" ? "demo-big" : "demo");

/** Whether this is the demo: no storage, no fixture and no platform other than `dev` is chosen. */
export const isDemo = (config: Config): boolean =>
  config.ACCOUNTLINK_STORAGE === null &&
  config.ACCOUNTLINK_FIXTURE === null &&
  (config.ACCOUNTLINK_PLATFORM ?? "dev") === "dev";

/** Fails if the chosen platform, storage or cache needs a variable that is not set. */
export const resolveConfig = (config: Config): Effect.Effect<ResolvedConfig, InvalidConfig> =>
  Effect.map(
    Effect.all([checkOwnGame(config), platformOf(config), storageOf(config), cacheOf(config)]),
    ([, platform, storage, cache]) => ({
      config,
      demo: isDemo(config),
      storage,
      cache,
      platform,
      gameWays: gameWaysOf(config),
      limits: limitsOf(config),
      sessions: sessionsOf(config),
    }),
  );

const sessionsOf = (config: Config): SessionRules => ({
  life: config.ACCOUNTLINK_SESSION_TTL,
  pollInterval: config.ACCOUNTLINK_POLL_INTERVAL,
  pollLimit: config.ACCOUNTLINK_POLL_LIMIT,
  longPollMax: config.ACCOUNTLINK_LONG_POLL_MAX,
  streamMax: config.ACCOUNTLINK_STREAM_MAX,
  createBurst: config.ACCOUNTLINK_SESSION_CREATE_BURST,
  createRefill: config.ACCOUNTLINK_SESSION_CREATE_REFILL,
  sightingRetention: config.ACCOUNTLINK_SIGHTING_RETENTION,
  knownFor: config.ACCOUNTLINK_KNOWN_FOR,
});

/** The location of the storage, as commands print it. */
export class StorageLocation extends Context.Service<
  StorageLocation,
  {
    /** The location as messages name it: `data folder "data"` or `database "db.internal:5432/links"`. */
    readonly text: string;
    readonly json: { readonly folder: string } | { readonly database: string };
  }
>()("@accountlink/server/StorageLocation") {}

/** A storage that outlives the server. */
export type PersistentStorage = Exclude<Storage, { readonly kind: "memory" }>;

export type OfKind<Choice extends { readonly kind: string }, Kind extends Choice["kind"]> = Extract<
  Choice,
  { readonly kind: Kind }
>;

export const locationOf = (storage: PersistentStorage): StorageLocation["Service"] => {
  if (storage.kind === "embedded") {
    return { text: `data folder "${storage.folder}"`, json: { folder: storage.folder } };
  }
  const { path } = placeOf(Redacted.value(storage.url));
  return { text: `database "${path}"`, json: { database: path } };
};
