/**
 * The types of configuration variables.
 */
import { parseNetwork } from "@accountlink/core/addresses";
import type { DeploymentSecrets } from "@accountlink/core/secrets";
import { dayMs } from "@accountlink/core/timestamp";
import { Duration, Option, Redacted, Result } from "effect";
import { Base64 } from "effect/encoding";
import type { IpNetwork } from "effect/net";

export interface Variable<out A> {
  /** The accepted values, as errors and the documentation describe them. */
  readonly expected: string;
  readonly description: string;
  /** Whether messages must not contain the value. */
  readonly secret: boolean;
  readonly parse: (text: string) => Option.Option<A>;
  readonly fallback: A;
}

interface About<A> {
  readonly description: string;
  readonly fallback: A;
}

const variable = <A>(
  expected: string,
  parse: (text: string) => Option.Option<A>,
  about: About<A>,
): Variable<A> => ({ expected, parse, secret: false, ...about });

const hidden = <A>(marked: Variable<A>): Variable<A> => ({ ...marked, secret: true });

const wholeNumber = (text: string): Option.Option<number> =>
  /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none();

export const text = <Fallback extends string | null>(
  expected: string,
  about: About<Fallback>,
): Variable<string | Fallback> => variable<string | Fallback>(expected, Option.some, about);

export const count = (about: About<number>): Variable<number> =>
  variable("a whole number, 0 to turn the rule off", wholeNumber, about);

export const positive = (about: About<number>): Variable<number> =>
  variable(
    "a whole number, at least 1",
    (input) => Option.filter(wholeNumber(input), (number) => number > 0),
    about,
  );

export const port = <Fallback extends number | null>(about: About<Fallback>): Variable<number | Fallback> =>
  variable<number | Fallback>(
    "a port number from 0 to 65535",
    (input) => Option.filter(wholeNumber(input), (number) => number <= 65_535),
    about,
  );

export const choice = <const Value extends string, Fallback extends NoInfer<Value> | null>(
  values: ReadonlyArray<Value>,
  about: About<Fallback>,
): Variable<Value | Fallback> =>
  variable<Value | Fallback>(
    `one of ${values.join(", ")}`,
    (input) => Option.fromUndefinedOr(values.find((value) => value === input)),
    about,
  );

/** A prefix of keys in a shared store. */
export const prefix = (about: About<string>): Variable<string> =>
  variable(
    "letters, digits, and : . _ -",
    (input) => (/^[\w:.-]+$/.test(input) ? Option.some(input) : Option.none()),
    about,
  );

const durationPattern = /^\d+(?:\.\d+)? (?:milli|second|minute|hour|day)s?$/;

export const expectedDuration = "a duration such as 5 minutes, 1 second or 250 millis";

/** A duration, in milliseconds. */
export const duration = (about: {
  readonly description: string;
  readonly fallback: string;
}): Variable<number> =>
  variable(expectedDuration, durationMillis, {
    description: about.description,
    fallback: Option.getOrThrow(durationMillis(about.fallback)),
  });

/** A duration above zero, in milliseconds. */
export const lifetime = (about: { readonly description: string; readonly fallback: string }) => {
  const lasting = duration(about);
  return {
    ...lasting,
    expected: `${expectedDuration}, longer than 0 seconds`,
    parse: (input: string) => Option.filter(lasting.parse(input), (millis) => millis > 0),
  };
};

/** A duration of at least a day, in milliseconds. */
export const days = (about: { readonly description: string; readonly fallback: string }) => {
  const lasting = duration(about);
  return {
    ...lasting,
    expected: `${expectedDuration}, at least 1 day`,
    parse: (input: string) => Option.filter(lasting.parse(input), (millis) => millis >= dayMs),
  };
};

/** Converts a duration such as `5 minutes` to milliseconds. */
export const durationMillis = (input: string): Option.Option<number> =>
  durationPattern.test(input)
    ? Option.map(Duration.fromInput(input as Duration.Input), Duration.toMillis)
    : Option.none();

export const networks = (
  about: About<ReadonlyArray<IpNetwork.IpNetwork>>,
): Variable<ReadonlyArray<IpNetwork.IpNetwork>> =>
  variable(
    "CIDRs such as 10.0.0.0/8, separated by commas",
    (input) => Option.all(input.split(",").map(parseNetwork)),
    about,
  );

/** A base URL, without a slash at the end. */
export const webAddress = (about: About<string | null>): Variable<string | null> =>
  variable(
    "an http or https URL without credentials, query and fragment",
    (input) =>
      /^https?:\/\/[^?#]+$/.test(input) && URL.canParse(input) && !hasCredentials(new URL(input))
        ? Option.some(input.replace(/\/+$/, ""))
        : Option.none(),
    about,
  );

/** An origin in its canonical form. */
export const webOrigin = (about: About<string | null>): Variable<string | null> => {
  const address = webAddress(about);
  return {
    ...address,
    expected: "an http or https URL without credentials, path, query and fragment",
    parse: (input) => {
      if (Option.isNone(address.parse(input))) return Option.none();
      const { origin, pathname } = new URL(input);
      return pathname === "/" ? Option.some(origin) : Option.none();
    },
  };
};

/** The URL of a page for browsers. */
export const webPage = (about: About<string | null>): Variable<string | null> =>
  variable(
    "an http or https URL without credentials",
    (input) =>
      /^https?:\/\//.test(input) && URL.canParse(input) && !hasCredentials(new URL(input))
        ? Option.some(input)
        : Option.none(),
    about,
  );

const hasCredentials = ({ username, password }: URL): boolean => username !== "" || password !== "";

/** A base URL with `{service}` in place of a service's name. */
export const serviceAddress = (about: About<string | null>): Variable<string | null> => {
  const address = webAddress(about);
  return {
    ...address,
    expected: `${address.expected}, with {service} in it`,
    parse: (input) =>
      input.includes("{service}") && Option.isSome(address.parse(input.replace("{service}", "service")))
        ? Option.some(input.replace(/\/+$/, ""))
        : Option.none(),
  };
};

/**
 * A token or secret that authenticates this service to a platform.
 *
 * @param what its name in errors, such as `a token`
 */
export const credential = (
  what: string,
  about: About<Redacted.Redacted | null>,
): Variable<Redacted.Redacted | null> =>
  hidden(
    variable(
      `${what} without white space`,
      (input) => (/^[\x21-\x7e]+$/.test(input) ? Option.some(Redacted.make(input)) : Option.none()),
      about,
    ),
  );

/**
 * The URL of a database server, which may contain a password.
 *
 * @param expected the accepted formats
 */
export const serverAddress = (
  expected: string,
  isRight: (text: string) => boolean,
  about: About<Redacted.Redacted | null>,
): Variable<Redacted.Redacted | null> =>
  hidden(
    variable(
      expected,
      (input) => (isRight(input) ? Option.some(Redacted.make(input)) : Option.none()),
      about,
    ),
  );

/** The deployment's secret, and the previous one during a rotation. */
export const secrets = (about: About<DeploymentSecrets | null>): Variable<DeploymentSecrets | null> =>
  hidden(variable("32 or more bytes in base64, or new,old while it is rotated", parseSecrets, about));

/** Parses one secret of 32 or more bytes in base64, or the new and the old one. */
export const parseSecrets = (input: string): Option.Option<DeploymentSecrets> => {
  const [newest, old, ...more] = input
    .split(",")
    .map((part) => Option.map(secretBytes(part.trim()), Redacted.make));
  if (newest === undefined || more.length > 0) return Option.none();
  return old === undefined ? Option.map(newest, (one) => [one] as const) : Option.all([newest, old] as const);
};

const secretBytes = (input: string): Option.Option<Uint8Array> =>
  Option.filter(Result.getSuccess(Base64.decode(input)), (bytes) => bytes.length >= 32);

/** Named keys, newest first. */
export const namedSecrets = (
  about: About<ReadonlyMap<string, Redacted.Redacted<Uint8Array>>>,
): Variable<ReadonlyMap<string, Redacted.Redacted<Uint8Array>>> =>
  hidden(
    variable(
      "id:base64 pairs of 32 or more bytes, separated by commas, newest first",
      (input) => Option.map(Option.all(input.split(",").map(namedSecret)), (pairs) => new Map(pairs)),
      about,
    ),
  );

const namedSecret = (pair: string) => {
  const colon = pair.indexOf(":");
  const id = pair.slice(0, Math.max(0, colon)).trim();
  return id === ""
    ? Option.none()
    : Option.map(secretBytes(pair.slice(colon + 1).trim()), (bytes) => [id, Redacted.make(bytes)] as const);
};
