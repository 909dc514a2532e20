/** Changes one resource of a platform. */
import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Option, type Schema } from "effect";
import type { HttpClientRequest } from "effect/http";
import { readJson } from "./find_resource.ts";
import { asUnavailable, RequestFailed } from "./resilience/request_failed.ts";
import type { ResilientClient } from "./resilience/resilient_client.ts";

/**
 * Sends a change. Returns none if it was made, or the body of a 403 or 404 that says why it was refused. Every other
 * response is a failure.
 *
 * @internal
 */
export const changeResource = <A>(
  client: ResilientClient,
  operation: string,
  request: HttpClientRequest.HttpClientRequest,
  refused: Schema.ConstraintDecoder<A>,
): Effect.Effect<Option.Option<A>, PlatformUnavailable> =>
  client.execute(request).pipe(
    Effect.flatMap((response) => {
      const { status } = response;
      if (status === 200 || status === 204) return Effect.succeedNone;
      return status === 403 || status === 404
        ? Effect.asSome(readJson(response, refused))
        : Effect.fail(new RequestFailed({ reason: "status", status }));
    }),
    asUnavailable(operation),
  );
