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
 */
export const refuseWhere = (
  app: HttpApp,
  refusalOf: (request: HttpServerRequest.HttpServerRequest) => PublicError | null,
): HttpApp =>
  Effect.withFiber((fiber) => {
    const refusal = refusalOf(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest));
    return refusal === null ? app : Effect.provideService(app, RefusedRequest, refusal);
  });
