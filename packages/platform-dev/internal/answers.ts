/**
 * The answers that every route is made of.
 */
import { HttpServerResponse } from "effect/http";
import { type RefusalCode, refusals } from "../wire.ts";

export const json = (body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body);

export const done = HttpServerResponse.empty({ status: 204 });

/** @param status a status other than the code's own */
export const refuse = (
  code: RefusalCode,
  status: number = refusals[code],
): HttpServerResponse.HttpServerResponse => HttpServerResponse.jsonUnsafe({ code }, { status });
