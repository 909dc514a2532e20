/**
 * Requests that the server which carries them refuses, such as those that are not valid HTTP.
 */
import type { PublicError } from "@accountlink/core";
import { Context, Effect, type Scope } from "effect";
import { HttpServerRequest, type HttpServerResponse } from "effect/http";

/** The application: an answer to the present request. */
export type HttpApp = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>;

/**
 * Why the request is refused before it is routed; null for one that is not. The application answers it in the envelope
 * of its path.
 */
export const RefusedRequest = Context.Reference<PublicError | null>("@accountlink/http/RefusedRequest", {
  defaultValue: () => null,
});

/**
 * Lets the application refuse what the server finds wrong with a request.
 *
 * @param refusalOf null for a request that is to be carried out
 */
export const refuseWhere = (
  app: HttpApp,
  refusalOf: (request: HttpServerRequest.HttpServerRequest) => PublicError | null,
): HttpApp =>
  Effect.withFiber((fiber) => {
    const refusal = refusalOf(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest));
    return refusal === null ? app : Effect.provideService(app, RefusedRequest, refusal);
  });
