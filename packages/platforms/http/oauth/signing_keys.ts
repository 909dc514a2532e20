/** The keys that a platform signs its ID tokens with. */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Effect, Record, Schema, Semaphore } from "effect";
import * as oauth from "oauth4webapi";
import { entriesOf } from "../entries.ts";
import { readDocument } from "../find_resource.ts";
import type { ResilientClient } from "../resilience/resilient_client.ts";
import { failureOf } from "./oauth_failure.ts";

/** How long keys are used, and the shortest time between two readings, in milliseconds. */
const [keysFor, interval] = [300_000, 5_000];

const Keys = Schema.Struct({ keys: entriesOf(Schema.Record(Schema.String, Schema.Json)) });

interface Signing {
  readonly server: oauth.AuthorizationServer & { readonly jwks_uri: string };
  readonly application: oauth.Client;
  readonly algorithms: ReadonlyArray<string>;
}

/** Some issuers write null for a field of a key that is not there, which the library takes for another value. */
const withoutNulls = (key: Readonly<Record<string, unknown>>) =>
  Record.filter(key, (value) => value !== null);

/**
 * Makes the check of the signature of an ID token. The keys are read again when a token names an unknown one, since
 * platforms change their keys at any time. Concurrent checks share a reading.
 */
export const makeSignatureCheck = (
  client: ResilientClient,
  operation: string,
  { server, application, algorithms }: Signing,
) => {
  const reading = Semaphore.makeUnsafe(1);
  let read: { readonly keys: oauth.JWKS; readonly at: number } | undefined;

  /** Returns keys that are newer than `known`, or `known` if it is too early to read them. */
  const newerThan = (known: typeof read) =>
    Effect.gen(function* () {
      const at = yield* monotonicMillis;
      if (read !== undefined && (read !== known || at < read.at + interval)) return read;
      const found = yield* readDocument(client, { operation, url: server.jwks_uri, found: Keys });
      const keys = { keys: found.keys.map(withoutNulls) } as unknown as oauth.JWKS;
      return (read = { keys, at });
    }).pipe(reading.withPermits(1));

  const check = (response: Response, original: string | null, { keys }: NonNullable<typeof read>) =>
    Effect.tryPromise(async () => {
      const options = { [oauth.jwksCache]: { jwks: keys, uat: Math.floor(Date.now() / 1_000) } };
      // The library keeps keys by the object of the server, so a new object makes it use these keys.
      const from = { ...server, authorization_signing_alg_values_supported: [...algorithms] };
      if (original === null) return oauth.validateApplicationLevelSignature(from, response, options);
      // Of a signed answer, the library checks the signature whatever the kind of its subject is.
      const signed = new URLSearchParams({ response: original });
      await oauth.validateJwtAuthResponse(from, application, signed, oauth.skipStateCheck, options);
    });

  /**
   * @param response the token response, which the OAuth library has processed
   * @param original the ID token as it was signed, if the one of the response was changed
   */
  return Effect.fnUntraced(function* (response: Response, original: string | null) {
    const now = yield* monotonicMillis;
    const known = read !== undefined && now < read.at + keysFor ? read : yield* newerThan(read);
    yield* check(response, original, known).pipe(
      Effect.catchIf(
        ({ cause }) => cause instanceof oauth.OperationProcessingError && cause.code === oauth.KEY_SELECTION,
        () => Effect.flatMap(newerThan(known), (keys) => check(response, original, keys)),
      ),
      Effect.catchTag("UnknownError", ({ cause }) => Effect.fail(failureOf(operation, cause))),
    );
  });
};
