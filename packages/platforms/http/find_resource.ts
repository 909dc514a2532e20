/** Looks up or changes one resource of a platform. */
import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Option, Schema } from "effect";
import { HttpClientRequest, HttpClientResponse } from "effect/http";
import { asUnavailable, RequestFailed } from "./resilience/request_failed.ts";
import type { ResilientClient } from "./resilience/resilient_client.ts";

/** A resource of a platform, and how responses show whether the resource exists. */
export interface Resource<A> {
  /** The operation named in errors, such as `ChatPlatform.findMember`. */
  readonly operation: string;
  readonly url: string;
  /** The JSON body of a POST. Without it, the request is a GET. */
  readonly query?: Schema.Json;
  /** Decodes the body of a 200 response. */
  readonly found: Schema.ConstraintDecoder<A>;
  /** Returns whether the body describes the requested resource. If it does not, the lookup fails. */
  readonly matches?: (body: A) => boolean;
  /** The body of a 403 or 404 which says that the resource does not exist. */
  readonly absent: Schema.ConstraintDecoder<unknown>;
}

/**
 * Returns the resource, or none if the platform says that it does not exist. Every other response is a failure: a
 * proxy's error page is never taken for "not found".
 *
 * @example
 * ```ts
 * import { Effect, Option, Schema } from "effect";
 * import { HttpClient, HttpClientResponse } from "effect/http";
 *
 * const Player = Schema.Struct({ id: Schema.String });
 * const Unknown = Schema.Struct({ code: Schema.Literal("unknown_player") });
 *
 * const platform = HttpClient.make((request, { pathname }) =>
 *   Effect.succeed(
 *     HttpClientResponse.fromWeb(
 *       request,
 *       pathname === "/players/1"
 *         ? Response.json({ id: "1" })
 *         : Response.json({ code: "unknown_player" }, { status: 404 }),
 *     ),
 *   ),
 * );
 * const program = Effect.gen(function* () {
 *   const client = yield* resilientClient(platform, "game");
 *   const find = (id: string) =>
 *     findResource(client, {
 *       operation: "GamePlatform.hasUser",
 *       url: `https://play.example/players/${id}`,
 *       found: Player,
 *       matches: (player) => player.id === id,
 *       absent: Unknown,
 *     });
 *   return [yield* find("1"), yield* find("2")].map(Option.isSome);
 * });
 * await Effect.runPromise(Effect.scoped(program)); // [true, false]
 * ```
 */
export const findResource = <A>(
  client: ResilientClient,
  { operation, url, query, found, matches = () => true, absent }: Resource<A>,
): Effect.Effect<Option.Option<A>, PlatformUnavailable> =>
  (query === undefined
    ? client.get(url)
    : client.execute(HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(url), query))
  ).pipe(
    Effect.flatMap((response) => {
      if (response.status === 200) {
        return readJson(response, found).pipe(
          Effect.filterOrFail(
            matches,
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

/**
 * Binds `findResource` to a client, for an adapter with many resources.
 *
 * @param usual the body of a 403 or 404 which says that a resource does not exist, unless a lookup names another
 * @internal
 */
export const finderOn =
  (client: ResilientClient, usual: Schema.ConstraintDecoder<unknown> = Schema.Never) =>
  <A>(
    operation: string,
    url: string,
    found: Schema.ConstraintDecoder<A>,
    absent = usual,
    matches: (body: A) => boolean = () => true,
  ) =>
    findResource(client, { operation, url, found, absent, matches });

/**
 * Sends a request that changes a resource. Returns none if the platform made the change. If the platform refused the
 * change with a 403 or 404, returns the decoded body, which says why. Every other response is a failure.
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
      if (status === 200 || status === 201 || status === 204) return Effect.succeedNone;
      return status === 403 || status === 404
        ? Effect.asSome(readJson(response, refused))
        : Effect.fail(new RequestFailed({ reason: "status", status }));
    }),
    asUnavailable(operation),
  );

const readJson = <A>(response: HttpClientResponse.HttpClientResponse, schema: Schema.ConstraintDecoder<A>) =>
  HttpClientResponse.schemaBodyJson(schema)(response).pipe(
    // Errors of the decoder contain parts of the request or the response, so they are replaced.
    Effect.mapError(() => new RequestFailed({ reason: "unreadable", status: response.status })),
  );
