/**
 * How the text of an environment variable or flag becomes a value.
 */
import { parseNetwork } from "@accountlink/core";
import { Duration, Option, Redacted, Result } from "effect";
import { Base64 } from "effect/encoding";
import type { IpNetwork } from "effect/net";

/** One variable: what it takes, and the value when it is not set. */
export interface Variable<out A> {
  /** What it takes, as a refusal and the documentation say it. */
  readonly expected: string;
  readonly description: string;
  /** Whether its value never appears in a message. */
  readonly secret: boolean;
  /** Whether anything uses it yet. */
  readonly hasEffect: boolean;
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
): Variable<A> => ({ expected, parse, secret: false, hasEffect: true, ...about });

/** Marks a variable that is read and checked, of a feature that is not there yet. */
export const notYet = <A>(marked: Variable<A>): Variable<A> => ({
  ...marked,
  description: `${marked.description} (no effect yet)`,
  hasEffect: false,
});

const wholeNumber = (text: string): Option.Option<number> =>
  /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none();

export const text = <Fallback extends string | null>(
  expected: string,
  about: About<Fallback>,
): Variable<string | Fallback> => variable<string | Fallback>(expected, Option.some, about);

export const count = (about: About<number>): Variable<number> =>
  variable("a whole number, 0 to turn the rule off", wholeNumber, about);

export const port = (about: About<number>): Variable<number> =>
  variable(
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

const durationPattern = /^\d+(?:\.\d+)? (?:milli|second|minute|hour|day)s?$/;

/** What a duration looks like. */
export const expectedDuration = "a duration such as 5 minutes, 1 second or 250 millis";

/** A duration, in milliseconds. */
export const duration = (about: {
  readonly description: string;
  readonly fallback: string;
}): Variable<number> => ({
  ...variable(expectedDuration, durationMillis, {
    description: about.description,
    fallback: Option.getOrThrow(durationMillis(about.fallback)),
  }),
});

/** Reads a duration such as `5 minutes`, into milliseconds. */
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

/** What paths can be appended to, without a slash at the end. */
export const webAddress = (about: About<string | null>): Variable<string | null> =>
  variable(
    "an http or https URL without credentials, query and fragment",
    (input) =>
      /^https?:\/\/[^?#]+$/.test(input) && URL.canParse(input) && !hasCredentials(new URL(input))
        ? Option.some(input.replace(/\/+$/, ""))
        : Option.none(),
    about,
  );

const hasCredentials = ({ username, password }: URL): boolean => username !== "" || password !== "";

/** 32 or more bytes in base64. */
export const secret = (
  about: About<Redacted.Redacted<Uint8Array> | null>,
): Variable<Redacted.Redacted<Uint8Array> | null> => ({
  ...variable("32 or more bytes in base64", (input) => Option.map(secretBytes(input), Redacted.make), about),
  secret: true,
});

/** Reads 32 or more bytes in base64. */
export const secretBytes = (input: string): Option.Option<Uint8Array> =>
  Option.filter(Result.getSuccess(Base64.decode(input)), (bytes) => bytes.length >= 32);

/** Keys for addresses, newest first. */
export const namedSecrets = (
  about: About<ReadonlyMap<string, Redacted.Redacted<Uint8Array>>>,
): Variable<ReadonlyMap<string, Redacted.Redacted<Uint8Array>>> => ({
  ...variable(
    "id:base64 pairs of 32 or more bytes, separated by commas, newest first",
    (input) => Option.map(Option.all(input.split(",").map(namedSecret)), (pairs) => new Map(pairs)),
    about,
  ),
  secret: true,
});

const namedSecret = (pair: string) => {
  const colon = pair.indexOf(":");
  const id = pair.slice(0, Math.max(0, colon)).trim();
  return id === ""
    ? Option.none()
    : Option.map(secretBytes(pair.slice(colon + 1).trim()), (bytes) => [id, Redacted.make(bytes)] as const);
};
