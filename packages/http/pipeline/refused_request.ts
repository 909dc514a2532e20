/**
 * Requests that the HTTP server refuses before routing, such as invalid HTTP.
 */
import type { PublicError } from "@accountlink/core";
import { Context, Effect, type Scope } from "effect";
import { HttpServerRequest, type HttpServerResponse } from "effect/http";

/** The application: the response to the current request. */
export type HttpApp = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>;

/**
 * Why the request is refused before routing, or null. The path decides the envelope.
 */
export const RefusedRequest = Context.Reference<PublicError | null>("@accountlink/http/RefusedRequest", {
  defaultValue: () => null,
});

/**
 * Lets the server refuse requests in the words of the application.
 *
 * @param refusalOf null for requests to serve
 *
 * @example
 * ```ts
 * import { MalformedRequest } from "@accountlink/core/errors";
 * import { RefusedRequest } from "@accountlink/http";
 * import { Effect } from "effect";
 * import { HttpEffect, HttpServerResponse } from "effect/http";
 *
 * const app = Effect.map(RefusedRequest, (refusal) =>
 *   HttpServerResponse.empty({ status: refusal?.status ?? 200 }),
 * );
 * const refusing = refuseWhere(app, ({ headers }) =>
 *   headers["expect"] === undefined ? null : new MalformedRequest({ problem: "expectation" }),
 * );
 * const handle = HttpEffect.toWebHandler(refusing);
 * (await handle(new Request("http://links.example"))).status; // 200
 * (await handle(new Request("http://links.example", { headers: { expect: "tea" } }))).status; // 417
 * ```
 */
export const refuseWhere = (
  app: HttpApp,
  refusalOf: (request: HttpServerRequest.HttpServerRequest) => PublicError | null,
): HttpApp =>
  Effect.withFiber((fiber) => {
    const refusal = refusalOf(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest));
    return refusal === null ? app : Effect.provideService(app, RefusedRequest, refusal);
  });
