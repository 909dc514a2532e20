import { SessionSettings } from "@accountlink/core";
import { type LimitSettings, Limits } from "@accountlink/core/limits";
import { isOrigin } from "@accountlink/core/origin";
import type { DeploymentSecrets } from "@accountlink/core/secrets";
import type { SessionRules } from "@accountlink/core/sessions";
import type { WebHandlerOptions } from "@accountlink/http";
import type { OwnMessages } from "@accountlink/pages/languages";
import { Data, Effect, type Layer, type LogLevel, Option, Redacted, Result } from "effect";
import { Base64 } from "effect/encoding";
import { type PlatformFunctions, type Platforms, platformsOf } from "./platforms.ts";
import type { ScopeChoice } from "./scope.ts";
import { memory, type Storage } from "./storage.ts";

/** 32 or more random bytes, raw or in base64, as `openssl rand -base64 32` prints them. */
export type SecretValue = string | Uint8Array;

/**
 * The secret that unlocks the root key in the store. The store is useless without the secret, so keep the secret
 * elsewhere and do not lose it. To rotate the secret, pass the new one and then the previous one.
 */
export type Secret = SecretValue | readonly [newest: SecretValue, previous: SecretValue];

/** All options except the storage and its secret. The platforms are given as functions or as a layer. */
export type Settings = Choices & (PlatformFunctions | { readonly platforms: Platforms });

/** The options of a service. Without a storage, the service stores data in memory, and needs no secret. */
export type Options<E = unknown> = Settings &
  (
    | { readonly storage: Storage<E>; readonly secret: Secret }
    | { readonly storage?: undefined; readonly secret?: Secret }
  );

/** A layer that sends webhooks, made by `sendWebhooks`. */
export type WebhookSending = Layer.Layer<never, InvalidOptions>;

interface Choices {
  /** The data scope of the services; the global scope of the account `default` if left out. */
  readonly scope?: ScopeChoice;
  /**
   * Origins to which a session may redirect the browser at its end, such as `https://example.com`; none if left out.
   */
  readonly redirectOrigins?: ReadonlyArray<string>;
  /** How `fetch` and `nodeListener` serve the HTTP interface; if left out, they fail with `InvalidOptions`. */
  readonly http?: WebHandlerOptions;
  /** Sends webhooks: `sendWebhooks()` of `accountlink/webhooks`; if left out, this process sends none. */
  readonly webhooks?: WebhookSending;
  /**
   * The minimum level of console logs. If it is left out, `createAccountLink` uses `Warn`, and the layers use the level
   * of your program.
   */
  readonly logLevel?: LogLevel.LogLevel;
  /** Limits of keys and client addresses over HTTP. A limit that is left out keeps its default. */
  readonly limits?: Partial<LimitSettings>;
  /** Rules of verification sessions. A rule that is left out keeps its default. Durations are in milliseconds. */
  readonly sessions?: Partial<SessionRules>;
  /**
   * Messages in place of the service's own, by language and key: ICU messages with the placeholders of the English one.
   */
  readonly languages?: OwnMessages;
}

/**
 * The service was not created, since its options are invalid.
 *
 * @example
 * ```ts
 * import { createAccountLink, InvalidOptions } from "accountlink";
 *
 * const options = { gameUserExists: () => true, redirectOrigins: ["example.com"] };
 * const refused = await createAccountLink(options).catch((error: unknown) => error);
 * refused instanceof InvalidOptions && refused.problems.length; // 1
 * ```
 */
export class InvalidOptions extends Data.TaggedError("InvalidOptions")<{
  /** Each problem names an option, its value, and the expected value. */
  readonly problems: ReadonlyArray<string>;
}> {
  readonly code = "INVALID_OPTIONS";
  readonly details = { problems: this.problems };
  override readonly message = `Cannot create accountlink: ${this.problems.join("; ")}`;
}

export interface CheckedOptions<E> {
  readonly storage: Storage<E>;
  readonly secrets: DeploymentSecrets;
  readonly scope: ScopeChoice;
  readonly redirectOrigins: ReadonlyArray<string>;
  /** The URL where browsers reach the service, without a trailing slash; null without the HTTP interface. */
  readonly publicUrl: string | null;
  readonly limits: Partial<LimitSettings>;
  readonly sessions: Partial<SessionRules>;
  readonly platforms: Platforms;
  readonly logLevel: LogLevel.LogLevel | undefined;
  readonly webhooks: WebhookSending | undefined;
  readonly languages: OwnMessages | undefined;
}

const names = {
  storage: true,
  secret: true,
  scope: true,
  redirectOrigins: true,
  http: true,
  webhooks: true,
  logLevel: true,
  limits: true,
  sessions: true,
  languages: true,
  platforms: true,
  gameUserExists: true,
  gameProfile: true,
  chatUser: true,
  guild: true,
  guildMember: true,
} satisfies Record<OptionName, true>;

type OptionName = "storage" | "secret" | "platforms" | keyof Choices | keyof PlatformFunctions;

/** Validates options, including options from untyped programs. */
export const checkOptions = Effect.fnUntraced(function* <E>(options: Options<E>) {
  const { storage, scope = {}, redirectOrigins = [], http, limits = {}, sessions = {}, languages } = options;
  const secrets = secretsOf(options.secret, storage !== undefined);
  const problems = [
    ...unknownIn(options, names, ""),
    ...unknownIn(limits, Limits.defaultValue(), "limits."),
    ...unknownIn(sessions, SessionSettings.defaultValue(), "sessions."),
    ...(Result.isFailure(secrets) ? [secrets.failure] : []),
    ...platformProblems(options),
    ...(languages === undefined ? [] : yield* languageProblems(languages)),
    ...redirectOrigins
      .filter((origin) => !isOrigin(origin))
      .map((origin) => `redirectOrigins has "${origin}", expected an origin such as "https://example.com"`),
  ];
  if (problems.length > 0 || Result.isFailure(secrets)) return yield* new InvalidOptions({ problems });
  const checked: CheckedOptions<E> = {
    storage: storage ?? (memory() as Storage<E>),
    secrets: secrets.success,
    scope,
    redirectOrigins,
    publicUrl: http === undefined ? null : `${bare(http.publicUrl)}${bare(http.basePath ?? "")}`,
    limits,
    sessions,
    logLevel: options.logLevel,
    webhooks: options.webhooks,
    languages,
    platforms: "platforms" in options ? options.platforms : platformsOf(options),
  };
  return checked;
});

/** Imports the English messages on demand, so programs without messages of their own do not load them. */
const languageProblems = (languages: OwnMessages) =>
  Effect.promise(async () => (await import("@accountlink/pages/languages")).ownMessageFaults(languages));

const bare = (url: string): string => url.replace(/\/$/, "");

const unknownIn = (given: object, known: object, prefix: string): ReadonlyArray<string> =>
  Object.keys(given)
    .filter((name) => !(name in known))
    .map((name) => `${prefix}${name} is unknown, expected one of ${Object.keys(known).join(", ")}`);

const platformProblems = (options: object): ReadonlyArray<string> => {
  const { gameUserExists, platforms } = options as Partial<PlatformFunctions & { platforms: unknown }>;
  if (platforms !== undefined) {
    return gameUserExists === undefined
      ? []
      : ["gameUserExists and platforms are both given, expected one of them"];
  }
  if (typeof gameUserExists === "function") return [];
  const given = gameUserExists === undefined ? "missing" : `of type ${typeof gameUserExists}`;
  return [`gameUserExists is ${given}, expected a function that tells whether a game user exists`];
};

/**
 * Validates the secret. If none is given, memory storage uses a random secret, since its data ends with the process.
 */
const secretsOf = (secret: Secret | undefined, isKept: boolean): Result.Result<DeploymentSecrets, string> => {
  if (secret === undefined && isKept) return Result.fail(`secret is missing, ${expectedSecret}`);
  const [newest = crypto.getRandomValues(new Uint8Array(32)), previous] =
    typeof secret === "string" || secret instanceof Uint8Array ? [secret] : (secret ?? []);
  return previous === undefined
    ? Result.map(secretBytes(newest), (only) => [only])
    : Result.all([secretBytes(newest), secretBytes(previous)]);
};

const secretBytes = (secret: SecretValue): Result.Result<Redacted.Redacted<Uint8Array>, string> => {
  const bytes =
    typeof secret === "string" ? Result.getSuccess(Base64.decode(secret.trim())) : Option.some(secret);
  if (Option.isNone(bytes)) return Result.fail(`secret is not base64, ${expectedSecret}`);
  const { length } = bytes.value;
  return length < 32
    ? Result.fail(`secret has ${length} bytes, ${expectedSecret}`)
    : Result.succeed(Redacted.make(bytes.value));
};

const expectedSecret = "expected 32 or more random bytes, or these in base64";
