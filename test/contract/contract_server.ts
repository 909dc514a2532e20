/**
 * The server of a contract test, which checks the envelope of every answer before the test receives it, and that the
 * document of its route lists the reason of a refusal.
 */
import { dashboardRoutes, openApi, type Route, routes } from "@accountlink/http-api";
import { expect } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { type Answer, type Json, type Send, textOf } from "../support/http.ts";
import { type ServerOptions, useServer } from "../support/server.ts";
import { envelopeProblems } from "./envelope.ts";
import { plain } from "./example_text.ts";

/** Runs one server for all tests of a file. The server starts with the fixtures that the tests have added. */
export const useContractServer = (
  env: Readonly<Record<string, string>> = {},
  options: Pick<ServerOptions, "usual"> = {},
) => {
  const fixtures = makeFixtures();
  const server = useServer(() => ({ fixture: fixtures.fixture, env, ...options }));
  return { ...server, fixtures, send: checked(server.send) };
};

export const checked =
  (send: Send): Send =>
  async (line, options) => {
    const answer = await send(line, options);
    const problems = [...envelopeProblems(line, answer), ...reasonProblems(line, answer)];
    if (problems.length > 0) {
      throw new Error(`${line} was answered ${answer.status} ${answer.text}: ${problems.join("; ")}`);
    }
    return answer;
  };

const patterns = [...routes, ...dashboardRoutes].map((route): readonly [RegExp, Route] => [
  new RegExp(`^${route.method} ${route.path.replaceAll(/:\w+/g, "[^/?]+")}(?:\\?|$)`),
  route,
]);

/** Reports a reason, or a limit, that the document of the route does not list. */
const reasonProblems = (line: string, { status, body }: Answer): ReadonlyArray<string> => {
  const { reason, bucket = reason }: Json = body?.error?.details ?? {};
  const ofV2 = [403, 409, 429].includes(status) && bucket !== undefined ? [textOf(bucket)] : [];
  const meant = typeof body?.error === "string" ? reasonsOfWords(status, body.error) : ofV2;
  const [, route] = patterns.find(([pattern]) => pattern.test(line)) ?? [];
  const isListed = route === undefined || meant.some((each) => new Set<string>(route.reasons).has(each));
  return isListed || meant.length === 0 ? [] : [`the document of ${route.id} does not list ${meant.join()}`];
};

const { responses = {} } = openApi("http://127.0.0.1").components as Readonly<Record<string, Json>>;

const reasonsOfWords = (status: number, words: string): ReadonlyArray<string> =>
  Object.entries(responses[`V1.${status}`]?.["content"]?.["application/json"]?.["examples"] ?? {})
    .filter(([name, example]) => /^[a-z]/.test(name) && plain(example?.["value"]?.error) === plain(words))
    .map(([name]) => name);

/** Matches a time as answers and events have it. */
export const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

/** The headers with the limits of a key and the remaining requests. */
export const limitHeaders = ({ headers }: Answer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-ratelimit-")));

export const expectRefusal = (answer: Answer, status: number, code: string, details: unknown): void =>
  expect({
    status: answer.status,
    code: answer.body.error?.code,
    details: answer.body.error?.details,
  }).toEqual({ status, code, details });

/** Expects that the key or member may not send a v2 request, for this reason. */
export const expectForbidden = (answer: Answer, reason: string): void =>
  expectRefusal(answer, 403, "FORBIDDEN", { reason });

/** Expects a v2 refusal because the request contradicts stored data, for this reason. */
export const expectConflict = (answer: Answer, reason: string): void =>
  expectRefusal(answer, 409, "CONFLICT", { reason });

/** Expects the v2 refusal of a path, list or plan that does not exist for the key or member. */
export const expectUnknown = (answer: Answer): void => expectRefusal(answer, 404, "BAD_REQUEST", null);

export const expectMissing = (answer: Answer, ...parameters: ReadonlyArray<string>): void =>
  expectRefusal(answer, 400, "MISSING_PARAMETER", { parameters });

/** Expects a v2 refusal because exactly these parameters are invalid: names, or `"name: reason"`. */
export const expectInvalid = (answer: Answer, ...named: ReadonlyArray<string>): void => {
  const parameters = named.map((each) => {
    const [name, reason = expect.any(String) as unknown] = each.split(": ");
    return { name, reason };
  });
  expectRefusal(answer, 400, "INVALID_PARAMETER", { parameters });
};

export const dataOf = ({ status, body }: Answer, expected = 200): Json => {
  expect({ status, error: body.error }).toEqual({ status: expected, error: undefined });
  return body.data ?? {};
};

export const expectData = (answer: Answer, data: unknown): void =>
  expect({ status: answer.status, data: answer.body.data }).toEqual({ status: 200, data });

export const expectV1Refusal = (answer: Answer, status: number, error: string): void =>
  expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error });
