/**
 * Reading what a platform says of one thing.
 */
import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Option, Schema } from "effect";
import { HttpClientResponse } from "effect/http";
import { asUnavailable, RequestFailed } from "./request_failed.ts";
import type { ResilientClient } from "./resilient_client.ts";

/** A thing that a platform may have, and how its answers look. */
export interface Resource<A> {
  /** What is being done, such as `ChatPlatform.findMember`. */
  readonly operation: string;
  /** The address of the thing, as the client takes it. */
  readonly url: string;
  /** The body of a 200. */
  readonly found: Schema.ConstraintDecoder<A>;
  /** Whether that body is about the thing that was asked for. */
  readonly isAsked: (answer: A) => boolean;
  /** The body of a 403 or 404 that means that there is no such thing. Any other is not an answer. */
  readonly absent: Schema.ConstraintDecoder<unknown>;
}

/**
 * Asks for a thing, or gives none when the platform says that there is none. Every other answer fails: what was not
 * promised is never taken for a yes or a no.
 */
export const findResource = <A>(
  client: ResilientClient,
  { operation, url, found, isAsked, absent }: Resource<A>,
): Effect.Effect<Option.Option<A>, PlatformUnavailable> =>
  client.get(url).pipe(
    Effect.flatMap((response) => {
      if (response.status === 200) {
        return readJson(response, found).pipe(
          Effect.filterOrFail(
            isAsked,
            () => new RequestFailed({ reason: "unreadable", status: response.status }),
          ),
          Effect.asSome,
        );
      }
      if (response.status === 404 || response.status === 403) {
        return Effect.as(readJson(response, absent), Option.none<A>());
      }
      return Effect.fail(new RequestFailed({ reason: "status", status: response.status }));
    }),
    asUnavailable(operation),
  );

const readJson = <A>(response: HttpClientResponse.HttpClientResponse, schema: Schema.ConstraintDecoder<A>) =>
  HttpClientResponse.schemaBodyJson(schema)(response).pipe(
    // Neither error may pass on: both hold parts of the request or the answer.
    Effect.mapError(() => new RequestFailed({ reason: "unreadable", status: response.status })),
  );
