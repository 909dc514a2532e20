import { Effect } from "effect";
import { HttpRouter, HttpServerResponse } from "effect/http";
import { type RefusalCode, refusals } from "../wire.ts";

export const json = (body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body);

export const done = HttpServerResponse.empty({ status: 204 });

/** @param status overrides the default status of the code */
export const refuse = (
  code: RefusalCode,
  status: number = refusals[code],
): HttpServerResponse.HttpServerResponse => HttpServerResponse.jsonUnsafe({ code }, { status });

/** A handler that needs path parameters only. */
export type PathHandler = (
  values: Readonly<Record<string, string | undefined>>,
) => HttpServerResponse.HttpServerResponse;

export const fromPath = (handler: PathHandler) => Effect.map(HttpRouter.params, handler);
