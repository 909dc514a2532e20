/**
 * The answers that every route is made of.
 */
import { Effect } from "effect";
import { HttpRouter, HttpServerResponse } from "effect/http";
import { type RefusalCode, refusals } from "../wire.ts";

export const json = (body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body);

export const done = HttpServerResponse.empty({ status: 204 });

/** @param status a status other than the code's own */
export const refuse = (
  code: RefusalCode,
  status: number = refusals[code],
): HttpServerResponse.HttpServerResponse => HttpServerResponse.jsonUnsafe({ code }, { status });

/** An answer made of the values in the path. */
export type Answer = (
  values: Readonly<Record<string, string | undefined>>,
) => HttpServerResponse.HttpServerResponse;

export const answerFromPath = (answer: Answer) => Effect.map(HttpRouter.params, answer);

/** For work that fails with the answer to give in its place. */
export const answered = <R>(
  work: Effect.Effect<HttpServerResponse.HttpServerResponse, HttpServerResponse.HttpServerResponse, R>,
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> => work.pipe(Effect.catch(Effect.succeed));
