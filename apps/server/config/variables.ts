/** The types of configuration variables. */
import { expectedPrivateUrl, isPrivateUrl, parseNetwork } from "@accountlink/core/addresses";
import type { DeploymentSecrets } from "@accountlink/core/secrets";
import { dayMs } from "@accountlink/core/timestamp";
import { Duration, Option, Redacted, Result } from "effect";
import { Base64 } from "effect/encoding";
import type { IpNetwork } from "effect/net";

export interface Variable<out A> {
  /** The accepted values, as errors and the documentation describe them. */
  readonly expected: string;
  readonly description: string;
  /** Whether messages must not repeat the value. */
  readonly secret: boolean;
  readonly parse: (text: string) => Option.Option<A>;
  readonly fallback: A;
}

export type Values<Variables> = {
  readonly [Name in keyof Variables]: Variables[Name] extends Variable<infer A> ? A : never;
};

type Parse<A> = (text: string) => Option.Option<A>;

const variable = <A>(description: string, fallback: A, expected: string, parse: Parse<A>): Variable<A> => ({
  description,
  fallback,
  expected,
  parse,
  secret: false,
});

/** Describes a variable without a default. */
const unset = <A>(description: string, expected: string, parse: Parse<A>): Variable<A | null> =>
  variable<A | null>(description, null, expected, parse);

const hidden = <A>(...about: Parameters<typeof variable<A>>): Variable<A> => ({
  ...variable(...about),
  secret: true,
});

const wholeNumber = (text: string): Option.Option<number> =>
  /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none();

export const text = <Fallback extends string | null = null>(
  description: string,
  expected: string,
  fallback: Fallback = null as Fallback,
): Variable<string | Fallback> => variable<string | Fallback>(description, fallback, expected, Option.some);

export const count = (description: string, fallback: number): Variable<number> =>
  variable(description, fallback, "a whole number, 0 to turn the rule off", wholeNumber);

export const positive = (description: string, fallback: number): Variable<number> =>
  variable(description, fallback, "a whole number, at least 1", (input) =>
    Option.filter(wholeNumber(input), (number) => number > 0),
  );

export const port = <Fallback extends number | null>(
  description: string,
  fallback: Fallback,
): Variable<number | Fallback> =>
  variable<number | Fallback>(description, fallback, "a port number from 0 to 65535", (input) =>
    Option.filter(wholeNumber(input), (number) => number <= 65_535),
  );

export const choice = <const Value extends string, Fallback extends NoInfer<Value> | null>(
  description: string,
  values: ReadonlyArray<Value>,
  fallback: Fallback,
): Variable<Value | Fallback> =>
  variable<Value | Fallback>(description, fallback, `one of ${values.join(", ")}`, (input) =>
    Option.fromUndefinedOr(values.find((value) => value === input)),
  );

/** Describes a variable that holds some of these values, each at most once, in an order that matters. */
export const choices = <const Value extends string>(
  description: string,
  values: ReadonlyArray<Value>,
): Variable<ReadonlyArray<Value> | null> =>
  unset(description, `some of ${values.join(", ")}, separated by commas`, (input) => {
    const given = input.split(",").map((part) => values.find((value) => value === part.trim()));
    const known = given.filter((value) => value !== undefined);
    return known.length === given.length && new Set(known).size === known.length
      ? Option.some(known)
      : Option.none();
  });

/** Describes a variable that holds a text of this form. */
export const matching = <Fallback extends string | null = null>(
  description: string,
  expected: string,
  form: RegExp,
  fallback: Fallback = null as Fallback,
): Variable<string | Fallback> =>
  variable<string | Fallback>(
    description,
    fallback,
    expected,
    Option.liftPredicate((input) => form.test(input)),
  );

const durationPattern = /^\d+(?:\.\d+)? (?:milli|second|minute|hour|day)s?$/;

export const expectedDuration =
  "a duration of at most 1000000 days, such as 5 minutes, 1 second or 250 millis";

const durationWhere =
  (expected: string, isRight: (millis: number) => boolean) =>
  (description: string, fallback: string): Variable<number> =>
    variable(description, Option.getOrThrow(durationMillis(fallback)), expected, (input) =>
      Option.filter(durationMillis(input), isRight),
    );

/** Describes a variable that holds a duration. The parsed value is in milliseconds. */
export const duration = durationWhere(expectedDuration, () => true);

/** Describes a variable that holds a duration above zero. The parsed value is in milliseconds. */
export const lifetime = durationWhere(`${expectedDuration}, longer than 0 seconds`, (millis) => millis > 0);

/** Describes a variable that holds a duration of at least a day. The parsed value is in milliseconds. */
export const days = durationWhere(`${expectedDuration}, at least 1 day`, (millis) => millis >= dayMs);

/** Much later times have no date. */
const longestDuration = 1_000_000 * dayMs;

/** Converts a duration such as `5 minutes` to whole milliseconds. */
export const durationMillis = (input: string): Option.Option<number> =>
  durationPattern.test(input)
    ? Duration.fromInput(input as Duration.Input).pipe(
        Option.map((parsed) => Math.round(Duration.toMillis(parsed))),
        Option.filter((millis) => millis <= longestDuration),
      )
    : Option.none();

export const networks = (description: string): Variable<ReadonlyArray<IpNetwork.IpNetwork>> =>
  variable(description, [], "CIDRs such as 10.0.0.0/8, separated by commas", (input) =>
    Option.all(input.split(",").map(parseNetwork)),
  );

const isWebUrl = (input: string): boolean => {
  const url = /^https?:\/\//.test(input) ? URL.parse(input) : null;
  return url !== null && url.username === "" && url.password === "";
};

const expectedAddress = "an http or https URL without credentials, query and fragment";

const parseAddress: Parse<string> = (input) =>
  isWebUrl(input) && !/[?#]/.test(input) ? Option.some(input.replace(/\/+$/, "")) : Option.none();

/** Describes a variable that holds a base URL. The parsed value has no trailing slash. */
export const webAddress = (description: string): Variable<string | null> =>
  unset(description, expectedAddress, parseAddress);

/**
 * Describes a variable that holds a base URL. It must be https, unless it names an address that is not public, because
 * requests to it contain a secret.
 */
export const privateAddress = (description: string): Variable<string | null> =>
  unset(description, expectedPrivateUrl, (input) => Option.filter(parseAddress(input), isPrivateUrl));

/**
 * Describes a variable that holds an origin. The parsed value is normalized: lower case, without a default port or a
 * slash at the end.
 */
export const webOrigin = (description: string): Variable<string | null> =>
  unset(description, "an http or https URL without credentials, path, query and fragment", (input) =>
    Option.filter(parseAddress(input), () => new URL(input).pathname === "/").pipe(
      Option.map((address) => new URL(address).origin),
    ),
  );

export const webPage = (description: string): Variable<string | null> =>
  unset(description, "an http or https URL without credentials", Option.liftPredicate(isWebUrl));

/** A base URL with `{service}` in place of a service's name. */
export const serviceAddress = (description: string): Variable<string | null> =>
  unset(description, `${expectedAddress}, with {service} in it`, (input) =>
    input.includes("{service}") && Option.isSome(parseAddress(input.replace("{service}", "service")))
      ? Option.some(input.replace(/\/+$/, ""))
      : Option.none(),
  );

/** A text that messages must not repeat, such as a database URL, which may contain a password. */
export const hiddenText = (
  description: string,
  expected: string,
  isRight: (text: string) => boolean,
): Variable<Redacted.Redacted | null> =>
  hidden<Redacted.Redacted | null>(description, null, expected, (input) =>
    isRight(input) ? Option.some(Redacted.make(input)) : Option.none(),
  );

/** A token or secret that authenticates this service to a platform. `what` names it in errors. */
export const credential = (description: string, what: string): Variable<Redacted.Redacted | null> =>
  hiddenText(description, `${what} without white space`, (input) => /^[\x21-\x7e]+$/.test(input));

/** The deployment's secret, and the previous one during a rotation. */
export const secrets = (description: string): Variable<DeploymentSecrets | null> =>
  hidden<DeploymentSecrets | null>(
    description,
    null,
    "32 or more bytes in base64, or new,old while it is rotated",
    parseSecrets,
  );

/** Parses a secret of 32 or more bytes in base64, or the new and the old secret during a rotation. */
export const parseSecrets = (input: string): Option.Option<DeploymentSecrets> => {
  const [newest, old, ...more] = input
    .split(",")
    .map((part) => Option.map(secretBytes(part.trim()), Redacted.make));
  if (newest === undefined || more.length > 0) return Option.none();
  return old === undefined ? Option.map(newest, (one) => [one] as const) : Option.all([newest, old] as const);
};

const secretBytes = (input: string): Option.Option<Uint8Array> =>
  Option.filter(Result.getSuccess(Base64.decode(input)), (bytes) => bytes.length >= 32);

/** Named keys, newest first. Each ID must be unique, since stored values refer to their key by ID only. */
export const namedSecrets = (
  description: string,
): Variable<ReadonlyMap<string, Redacted.Redacted<Uint8Array>>> =>
  hidden<ReadonlyMap<string, Redacted.Redacted<Uint8Array>>>(
    description,
    new Map(),
    "id:base64 pairs of 32 or more bytes, separated by commas, newest first, each id once",
    (input) =>
      Option.all(input.split(",").map(namedSecret)).pipe(
        Option.filter((pairs) => new Set(pairs.map(([id]) => id)).size === pairs.length),
        Option.map((pairs) => new Map(pairs)),
      ),
  );

const namedSecret = (pair: string) => {
  const colon = pair.indexOf(":");
  const id = pair.slice(0, Math.max(0, colon)).trim();
  return id === ""
    ? Option.none()
    : Option.map(secretBytes(pair.slice(colon + 1).trim()), (bytes) => [id, Redacted.make(bytes)] as const);
};
