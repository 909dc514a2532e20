import { Effect } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { type RefusalCode, refusals } from "../wire.ts";

export const json = (body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body);

export const done = HttpServerResponse.empty({ status: 204 });

export const refuse = (code: RefusalCode): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ code }, { status: refusals[code] });

/** A handler that needs only the parameters of the path and the query. */
export type PathHandler = (
  values: Readonly<Record<string, string | undefined>>,
) => HttpServerResponse.HttpServerResponse;

export const fromPath = (handler: PathHandler) =>
  Effect.map(Effect.all([HttpServerRequest.HttpServerRequest, HttpRouter.params]), ([{ url }, params]) =>
    handler({ ...Object.fromEntries(new URL(url, "http://platform").searchParams), ...params }),
  );
