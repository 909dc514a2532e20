import { SessionSettings } from "@accountlink/core";
import { type GameWay, gameWays } from "@accountlink/core/flow";
import { type LimitSettings, Limits } from "@accountlink/core/limits";
import { isOrigin } from "@accountlink/core/origin";
import type { DeploymentSecrets } from "@accountlink/core/secrets";
import type { SessionRules } from "@accountlink/core/sessions";
import type { WebHandlerOptions } from "@accountlink/http";
import type { OwnMessages } from "@accountlink/pages/languages";
import type { PageSettingsShape } from "@accountlink/pages/page_settings";
import {
  Array,
  type Config,
  Data,
  Effect,
  Layer,
  LogLevel,
  Option,
  Predicate,
  Record,
  Redacted,
  Result,
  Schema,
} from "effect";
import { Base64 } from "effect/encoding";
import * as Accept from "./accept.ts";
import { problemsIn } from "./method.ts";
import { type PlatformFunctions, type Platforms, platformsOf } from "./platforms.ts";
import { type ScopeChoice, scopeFields } from "./scope.ts";
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

/** Options of which each can be a `Config`. */
export type Configured<Given> = { readonly [Name in keyof Given]: Given[Name] | Config.Config<Given[Name]> };

/** Every option, whatever the others are. */
export interface AnyOptions extends Choices, Partial<PlatformFunctions> {
  readonly storage?: Storage | undefined;
  readonly secret?: Secret;
  readonly platforms?: Platforms;
}

/** What `Given` lacks of `Options`, so that the compiler names one forgotten option rather than a union. */
export type Forgotten<Given> = (Given extends { readonly platforms: unknown }
  ? unknown
  : Pick<PlatformFunctions, "gameUserExists">) &
  (Given extends { readonly storage: object } ? { readonly secret: Secret } : unknown) &
  (keyof Given extends keyof AnyOptions
    ? unknown
    : { readonly [Unknown in Exclude<keyof Given, keyof AnyOptions>]: never });

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
   * The ways to prove a game account that are on, in the order in which pages offer them: `connection`, `oauth` and
   * `words`. All by default, but `oauth` only with an application at the game platform.
   */
  readonly gameProofs?: ReadonlyArray<GameWay>;
  /** How pages and messages name the platforms and the operator. The platforms of `live` set the options left out. */
  readonly pages?: PageOptions;
  /**
   * Messages in place of the service's own, by language and key: ICU messages with the placeholders of the English one.
   * The tag of another language brings that language, which needs nine tenths of the messages.
   */
  readonly languages?: OwnMessages;
}

/**
 * The names of the platforms within a sentence, how users reach the operator, the URL of the privacy policy, and functions
 * that return the URL of a user's page on a platform, and of a guild's page. Pages show the pictures of the profiles.
 */
export type PageOptions = Partial<
  Pick<
    PageSettingsShape,
    "chatName" | "gameName" | "contact" | "privacyUrl" | "chatHome" | "chatPage" | "gamePage"
  >
>;

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

/** The URL of Redis may have a password. */
const isSecret = (path: ReadonlyArray<PropertyKey>): boolean =>
  /token|secret|key|^redis\.url$/iu.test(path.slice(-2).join("."));

/** Makes a check of a function's options, such as the options of `postgres`. It returns their problems, without secrets. */
export const problemsOf = (what: string, known: Schema.Codec<object>) => {
  const decode = Schema.decodeUnknownResult(known);
  return (given: unknown): ReadonlyArray<string> => {
    const read = decode(given, { errors: "all", onExcessProperty: "error", reportInput: true });
    return (Result.isFailure(read) ? problemsIn(read.failure.issue, true) : []).map(
      ({ path, reason }) =>
        `${[what, ...path].join(".")} ${isSecret(path) || reason.endsWith("expected an object") ? reason.replace(/^is ".*", /u, "") : reason}`,
    );
  };
};

export interface CheckedOptions<E> extends Omit<Choices, "http"> {
  readonly storage: Storage<E>;
  readonly secrets: DeploymentSecrets;
  readonly platforms: Platforms;
  /** The URL where browsers reach the service, without a trailing slash; null without the HTTP interface. */
  readonly publicUrl: string | null;
}

const layer = (expected: string) =>
  Accept.maybe(Accept.that((given): given is Layer.Layer<never> => Layer.isLayer(given), expected));
const aFunction = Accept.maybe(Accept.that(Predicate.isFunction, "a function"));

const objectOf = <S extends Schema.Top>(value: S) =>
  Schema.Record(Schema.String, value).annotate({ expected: "an object" });

const isWebUrl = (text: string): boolean => /^https?:$/u.test(URL.parse(text)?.protocol ?? "");

/** An object with the fields of the default: whole numbers, or such objects. */
const like = (usual: object, isPartial: boolean): Schema.Codec<object> =>
  Accept.fields(
    Record.map(usual as Readonly<Record<string, number | object>>, (value) => {
      const schema: Schema.Codec<unknown> = typeof value === "number" ? Accept.count : like(value, false);
      return isPartial ? Accept.maybe(schema) : schema;
    }),
  );

const optionFields = Accept.fields({
  storage: layer("a storage such as memory()"),
  // `secretsOf` checks the secret, and shows nothing of it.
  secret: Schema.optionalKey(Schema.Unknown),
  scope: Accept.maybe(scopeFields),
  redirectOrigins: Accept.maybe(
    Accept.listOf(Accept.textThat(isOrigin, 'an origin such as "https://example.com"')),
  ),
  // `makeWebHandler` checks which texts it can use.
  http: Accept.maybe(
    Accept.fields({
      publicUrl: Accept.text,
      basePath: Accept.maybe(Accept.text),
      clientAddress: Accept.maybe(Accept.oneOf(["given", "none"])),
      trustedProxies: Accept.maybe(Accept.listOf(Accept.text)),
      metrics: Accept.maybe(Accept.flag),
      docs: aFunction,
      pages: aFunction,
    }),
  ),
  webhooks: layer("a layer such as sendWebhooks()"),
  logLevel: Accept.maybe(Accept.oneOf(LogLevel.values)),
  limits: Accept.maybe(like(Limits.defaultValue(), true)),
  sessions: Accept.maybe(like(SessionSettings.defaultValue(), true)),
  gameProofs: Accept.maybe(Accept.listOf(Accept.oneOf(gameWays)).check(Schema.isMinLength(1))),
  pages: Accept.maybe(
    Accept.fields({
      chatName: Accept.maybe(Accept.text),
      gameName: Accept.maybe(Accept.text),
      contact: Accept.maybe(Accept.text),
      privacyUrl: Accept.maybe(Accept.textThat(isWebUrl, 'a URL such as "https://example.com/privacy"')),
      chatHome: aFunction,
      chatPage: aFunction,
      gamePage: aFunction,
    } satisfies Record<keyof PageOptions, Schema.Top>),
  ),
  // `languageProblems` checks the messages.
  languages: Accept.maybe(objectOf(objectOf(Schema.Unknown))),
  platforms: layer("a layer such as live({ … })"),
  gameUserExists: aFunction,
  gameProfile: aFunction,
  chatUser: aFunction,
  guild: aFunction,
  guildMember: aFunction,
} satisfies Record<keyof AnyOptions, Schema.Top>);

const readOptions = Schema.decodeUnknownResult(optionFields);

/** Validates options, including options from untyped programs. */
export const checkOptions = Effect.fnUntraced(function* <E>(options: Options<E>) {
  const read = readOptions(options, { errors: "all", onExcessProperty: "error", reportInput: true });
  const given = Result.getOrElse(read, () => (Predicate.isObject(options) ? options : {})) as AnyOptions;
  const secrets = secretsOf(given.secret, given.storage !== undefined);
  const problems = [
    ...(Result.isFailure(read) ? problemsIn(read.failure.issue, true) : []).map(
      ({ path, reason }) => `${path.length === 0 ? "the options" : path.join(".")} ${reason}`,
    ),
    ...(Result.isFailure(secrets) ? [secrets.failure] : []),
    ...platformProblems(given),
    ...(Result.isSuccess(read) ? yield* languageProblems(given.languages) : []),
  ];
  if (problems.length > 0 || Result.isFailure(secrets)) return yield* new InvalidOptions({ problems });
  const { storage = memory(), secret: _, http, ...choices } = given;
  const checked: CheckedOptions<E> = {
    ...choices,
    storage: storage as Storage<E>,
    secrets: secrets.success,
    platforms: given.platforms ?? platformsOf(given as PlatformFunctions),
    publicUrl: publicUrlOf(http),
  };
  return checked;
});

/** Imports the English messages on demand, so programs without messages of their own do not load them. */
const languageProblems = (languages: OwnMessages | undefined): Effect.Effect<ReadonlyArray<string>> =>
  languages === undefined
    ? Effect.succeed([])
    : Effect.promise(async () => (await import("@accountlink/pages/languages")).ownMessageFaults(languages));

const publicUrlOf = (http: WebHandlerOptions | undefined): string | null =>
  http === undefined ? null : `${bare(http.publicUrl)}${bare(http.basePath ?? "")}`;

const bare = (url: string): string => url.replace(/\/$/, "");

const platformProblems = ({ platforms, ...options }: AnyOptions): ReadonlyArray<string> => {
  if (platforms === undefined) {
    return options.gameUserExists === undefined
      ? ["gameUserExists is missing, expected a function that tells whether a game user exists"]
      : [];
  }
  return (["gameUserExists", "gameProfile", "chatUser", "guild", "guildMember"] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => `${name} and platforms are both given, expected one of them`);
};

/**
 * Validates the secret. If none is given, memory storage uses a random secret, since its data ends with the process.
 */
const secretsOf = (secret: Secret | undefined, isKept: boolean): Result.Result<DeploymentSecrets, string> => {
  if (secret === undefined && isKept) return Result.fail(`secret is missing, ${expectedSecret}`);
  const given: ReadonlyArray<unknown> = Array.isArray(secret)
    ? [...(secret as ReadonlyArray<unknown>)]
    : [secret ?? crypto.getRandomValues(new Uint8Array(32))];
  return Array.isReadonlyArrayNonEmpty(given)
    ? Result.all(Array.map(given, secretBytes))
    : Result.fail(`secret is an empty list, ${expectedSecret}`);
};

const secretBytes = (secret: unknown): Result.Result<Redacted.Redacted<Uint8Array>, string> => {
  if (typeof secret !== "string" && !(secret instanceof Uint8Array)) {
    return Result.fail(`secret is of type ${typeof secret}, ${expectedSecret}`);
  }
  const bytes =
    typeof secret === "string" ? Result.getSuccess(Base64.decode(secret.trim())) : Option.some(secret);
  if (Option.isNone(bytes)) return Result.fail(`secret is not base64, ${expectedSecret}`);
  const { length } = bytes.value;
  return length < 32
    ? Result.fail(`secret has ${length} bytes, ${expectedSecret}`)
    : Result.succeed(Redacted.make(bytes.value));
};

const expectedSecret = "expected 32 or more random bytes, or these in base64";
