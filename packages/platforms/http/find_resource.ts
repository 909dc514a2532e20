/** Asks a platform, and tells answers from outages. */
import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Option, Result, Schema, type SchemaIssue } from "effect";
import { HttpClientRequest, HttpClientResponse } from "effect/http";
import { pathOf, tellingLeftOut } from "./entries.ts";
import { asUnavailable, RequestFailed } from "./resilience/request_failed.ts";
import type { ResilientClient } from "./resilience/resilient_client.ts";

/** A request to a platform, and what its responses mean. @internal */
export interface Question<A, M> {
  /** The operation named in errors, such as `ChatPlatform.findMember`. */
  readonly operation: string;
  readonly request: HttpClientRequest.HttpClientRequest;
  /** Decodes the body of a successful response. */
  readonly found: Schema.ConstraintDecoder<A>;
  /** Returns whether the body describes the requested resource. If it does not, the question fails. */
  readonly matches?: ((body: A) => boolean) | undefined;
  /**
   * Returns what an error response means; undefined if it answers nothing.
   *
   * @param body the JSON of the response; undefined if it has none
   */
  readonly meaning: (status: number, body: unknown) => M | undefined;
  /** The route to name in the log. The operation if left out. */
  readonly route?: string | undefined;
  /** Whether the failure for an unreadable body names the route and the wrong field. */
  readonly namesField?: boolean | undefined;
}

/**
 * Sends a request. Succeeds with the body, fails in the result with the meaning of an error response, and fails as
 * unavailable for every response that answers nothing, such as a proxy's error page.
 *
 * @internal
 */
export const askPlatform = <A, M>(
  client: ResilientClient,
  {
    operation,
    request,
    found,
    matches = () => true,
    meaning,
    route = operation,
    namesField = false,
  }: Question<A, M>,
): Effect.Effect<Result.Result<A, M>, PlatformUnavailable> =>
  client.execute(request).pipe(
    Effect.flatMap((response): Effect.Effect<Result.Result<A, M>, RequestFailed> => {
      const { status } = response;
      if (status >= 200 && status < 300) {
        const unreadable = (field: string) =>
          new RequestFailed({
            reason: "unreadable",
            status,
            ...(namesField && { wrong: { route, field } }),
          });
        return bodyOf(response).pipe(
          Effect.flatMap((body) => tellingLeftOut(route, Schema.decodeUnknownEffect(found)(body))),
          // Errors of the decoder contain parts of the request or the response, so they are replaced.
          Effect.mapError(({ issue }) => unreadable(fieldOf(issue))),
          Effect.filterOrFail(matches, () => unreadable("id or name")),
          Effect.map(Result.succeed),
        );
      }
      return Effect.flatMap(bodyOf(response), (body) => {
        const meant = meaning(status, body);
        return meant === undefined
          ? Effect.fail(new RequestFailed({ reason: "status", status }))
          : Effect.succeed(Result.fail(meant));
      });
    }),
    asUnavailable(operation),
  );

const fieldOf = (issue: SchemaIssue.Issue): string => {
  const path = pathOf(issue);
  return path === "" ? "JSON object" : `"${path}"`;
};

const bodyOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<unknown> =>
  // `response.json` reads an empty body as null, which says that a list is empty.
  Effect.flatMap(response.text, (text) => Effect.try(() => JSON.parse(text) as unknown)).pipe(
    Effect.orElseSucceed(() => undefined),
  );

/** A resource of a platform, and how responses show whether the resource exists. */
export interface Resource<A> extends Omit<Question<A, never>, "request" | "meaning" | "route"> {
  readonly url: string;
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
  { url, absent, ...question }: Resource<A>,
): Effect.Effect<Option.Option<A>, PlatformUnavailable> => {
  const isAbsent = decodes(absent);
  return askPlatform(client, {
    ...question,
    request: HttpClientRequest.get(url),
    meaning: (status, body) => ((status === 403 || status === 404) && isAbsent(body) ? "absent" : undefined),
  }).pipe(Effect.map(Result.getSuccess));
};

/** Returns a document that always exists. @internal */
export const readDocument = <A>(
  client: ResilientClient,
  document: Omit<Resource<A>, "absent" | "namesField">,
): Effect.Effect<A, PlatformUnavailable> =>
  Effect.map(
    findResource(client, { ...document, absent: Schema.Never, namesField: true }),
    Option.getOrThrow,
  );

const decodes = (schema: Schema.ConstraintDecoder<unknown>) => {
  const decode = Schema.decodeUnknownOption(schema);
  return (body: unknown) => Option.isSome(decode(body));
};

/**
 * Binds `findResource` to a client, for an adapter with many resources.
 *
 * @param absent the body of a 403 or 404 which says that a resource does not exist
 * @internal
 */
export const finderOn =
  (client: ResilientClient, absent: Schema.ConstraintDecoder<unknown> = Schema.Never) =>
  <A>(operation: string, url: string, found: Schema.ConstraintDecoder<A>) =>
    findResource(client, { operation, url, found, absent });
