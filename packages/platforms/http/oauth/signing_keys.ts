/** The keys that a platform signs its ID tokens with. */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Effect, Option, Schema, Semaphore } from "effect";
import * as oauth from "oauth4webapi";
import { entriesOf } from "../entries.ts";
import { findResource } from "../find_resource.ts";
import type { ResilientClient } from "../resilience/resilient_client.ts";
import { failureOf } from "./oauth_failure.ts";

/** How long keys are used, and the shortest time between two readings, in milliseconds. */
const [keysFor, interval] = [300_000, 5_000];

const Keys = Schema.Struct({ keys: entriesOf(Schema.Record(Schema.String, Schema.Json)) });

/**
 * Makes the check of the signature of an ID token. The keys are read again when a token names an unknown one, since
 * platforms change their keys at any time. Concurrent checks share a reading.
 *
 * @param response the token response, which the OAuth library has processed
 */
export const makeSignatureCheck = (
  client: ResilientClient,
  operation: string,
  server: oauth.AuthorizationServer & { readonly jwks_uri: string },
) => {
  const reading = Semaphore.makeUnsafe(1);
  let read: { readonly keys: oauth.JWKS; readonly at: number } | undefined;

  /** Returns keys that are newer than `known`, or `known` if it is too early to read them. */
  const newerThan = (known: typeof read) =>
    Effect.gen(function* () {
      const at = yield* monotonicMillis;
      if (read !== undefined && (read !== known || at < read.at + interval)) return read;
      const found = yield* findResource(client, {
        operation,
        url: server.jwks_uri,
        found: Keys,
        absent: Schema.Never,
      });
      return (read = { keys: Option.getOrThrow(found) as unknown as oauth.JWKS, at });
    }).pipe(reading.withPermits(1));

  const check = (response: Response, { keys }: NonNullable<typeof read>) =>
    Effect.tryPromise(() =>
      // The library keeps keys by the object of the server, so a new object makes it use these keys.
      oauth.validateApplicationLevelSignature({ ...server }, response, {
        [oauth.jwksCache]: { jwks: keys, uat: Math.floor(Date.now() / 1_000) },
      }),
    );

  return Effect.fnUntraced(function* (response: Response) {
    const now = yield* monotonicMillis;
    const known = read !== undefined && now < read.at + keysFor ? read : yield* newerThan(read);
    yield* check(response, known).pipe(
      Effect.catchIf(
        ({ cause }) => cause instanceof oauth.OperationProcessingError && cause.code === oauth.KEY_SELECTION,
        () => Effect.flatMap(newerThan(known), (keys) => check(response, keys)),
      ),
      Effect.catchTag("UnknownError", ({ cause }) => Effect.fail(failureOf(operation, cause))),
    );
  });
};
