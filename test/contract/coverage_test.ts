/** Sends a request for each documented answer of each route, over real HTTP. */
import { openApi, pathTemplate, type Route, refusalsOf, routes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrokenStores, internalCause, startOnBrokenStores } from "../support/broken_stores.ts";
import { newToken } from "../support/fixtures.ts";
import { type Answer, type Json, type RequestOptions, type Send, textOf } from "../support/http.ts";
import type { Case, Surroundings } from "./case_writer.ts";
import { addAccounts, addKey, cases } from "./cases.ts";
import { checked, useContractServer } from "./contract_server.ts";
import { plain } from "./example_text.ts";
import { answerChecker } from "./openapi_schemas.ts";

const { fixtures, send, platform } = useContractServer({
  // The links of each key; keys of accounts without an owner have no cap.
  ACCOUNTLINK_FREE_LINKS: "2",
  ACCOUNTLINK_IP_DAILY: "3",
  ACCOUNTLINK_IP_VERIFY_DAILY: "3",
  ACCOUNTLINK_IP_AUTH_FAILURES: "3",
  ACCOUNTLINK_STREAM_MAX: "100 millis",
});

/**
 * A test case with its own key. Its request comes from the IP address `from`. The requests that prepare the case come
 * from `madeFrom`.
 */
interface Row extends Omit<Case, "key"> {
  readonly key: string | null;
  readonly guildId?: string;
  readonly from: string;
  readonly madeFrom: string;
}

const rows = cases.map(
  ({ key, ...rest }): Row => ({
    ...rest,
    key: addKey(fixtures, key),
    ...(key?.guildId === undefined ? {} : { guildId: key.guildId }),
    from: fixtures.address(),
    madeFrom: fixtures.address(),
  }),
);

addAccounts(fixtures);

const routeById = new Map(routes.map((route) => [route.id, route]));
const routeOf = (id: string): Route => {
  const route = routeById.get(id);
  if (route === undefined) throw new Error(`Cannot find route "${id}"`);
  return route;
};

const { paths } = openApi("http://127.0.0.1");

/** The documented answers of a route: every success and redirect, and every refusal with status and code. */
const documentedAnswers = (route: Route): Array<string> => {
  const statuses = Object.keys(
    paths[pathTemplate(route)]?.[route.method.toLowerCase() as "get"]?.responses ?? {},
  );
  return [
    ...statuses.filter((status) => status < "400").map((status) => `${status} -`),
    ...refusalsOf(route).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`)),
  ];
};

/**
 * Creates the session that the case names, and returns its sid. Returns an unknown sid if the case names no session.
 */
const makeSession = async (to: Send, { session, key, guildId, madeFrom }: Row): Promise<string> => {
  if (session === undefined || key === null) return `vs_${"0".repeat(43)}`;
  const options = { key, from: madeFrom };
  const { body } = await to("POST /v2/sessions", { ...options, body: { clientId: "client", guildId } });
  const sid = textOf(body.data?.sid);
  if (session === "cancelled") await to(`DELETE /v2/sessions/${sid}`, options);
  if (session === "expired") await to(`GET /v2/sessions/${sid}?wait=25`, options);
  return sid;
};

const usedKey = { "idempotency-key": "used" };

/** Sends another request with the idempotency key that the case's request will send. */
const useIdempotencyKey = (to: Send, { key, guildId, madeFrom }: Row): Promise<Answer> =>
  to("POST /v2/sessions", {
    ...(key === null ? {} : { key }),
    from: madeFrom,
    headers: usedKey,
    body: { clientId: "another", guildId },
  });

const sendCase = (
  to: Send,
  { route, values, raw, key, from, isReusing }: Row,
  sid: string,
): Promise<Answer> => {
  const { method, path, source } = routeOf(route);
  const { query, ...options } = raw ?? {};
  const pairs = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]);
  const search = query ?? (source === "query" ? new URLSearchParams(pairs).toString() : "");
  const request: RequestOptions = {
    from,
    ...(key === null ? {} : { key }),
    ...(source === "body" && raw?.headers === undefined ? { body: values } : {}),
    ...(isReusing === true ? { headers: usedKey } : {}),
    ...options,
  };
  return to(`${method} ${path.replace(":sid", sid)}${search === "" ? "" : `?${search}`}`, request);
};

const sendWrongKey = (to: Send, { from }: Row): Promise<Answer> =>
  to("GET /v2/chat", { from, key: newToken() });

/** Returns the part of an answer that is compared with the case's `expected`. */
const contentOf = (row: Row, { status, headers, text, body }: Answer): unknown => {
  if (status < 300)
    return body.message === undefined ? (body.data ?? text) : { ...body.data, message: body.message };
  if (status === 302) return headers.location?.replace(/^http:\/\/127\.0\.0\.1:\d+/, "");
  return routeOf(row.route).generation === "v1" ? body.error : { details: body.error?.details };
};

/** Returns status and code. Answers of v1 contain no code, so the code of the case is used. */
const answered = (row: Row, { status, body }: Answer): string => {
  const [, code = ""] = row.answer.split(" ");
  if (routeOf(row.route).generation === "v1") return `${status} ${code}`;
  return `${status} ${body.error === undefined ? "-" : textOf(body.error.code)}`;
};

const valueOf = (example: Json | undefined, components: Json | undefined): Json => {
  const name: unknown = example?.["$ref"];
  const shared =
    typeof name === "string" ? components?.["examples"]?.[name.split("/").at(-1) ?? ""] : example;
  return shared?.["value"] ?? {};
};

/**
 * Every refusal that the service has sent, to be compared with the documented examples. Values that differ between
 * runs, such as IDs and times, are replaced.
 */
const refusals = new Set<string>();
const refusalOf = ({ status, error }: Json): string => JSON.stringify(plain({ status, error }));

let stores: BrokenStores;
let checkAnswer: ReturnType<typeof answerChecker>;

beforeAll(async () => {
  stores = await startOnBrokenStores(fixtures.fixture);
  checkAnswer = answerChecker((await send("GET /openapi.json")).body);
});
afterAll(async () => {
  await stores.stop();
});

/**
 * For each value of `Surroundings`: `begin` causes the fault, `end` repairs it, and `to` returns the function that
 * sends the requests of the test cases.
 */
const surroundings: Readonly<
  Record<
    Surroundings,
    { readonly begin?: () => unknown; readonly end?: () => unknown; readonly to?: () => Send }
  >
> = {
  well: {},
  "chat platform down": {
    begin: () => platform.fail({ mode: "down", platform: "chat", status: 500 }),
    end: platform.recover,
  },
  "stores down": { begin: () => stores.setStores("down"), to: () => checked(stores.send) },
  "sessions short": { begin: () => stores.setStores("well"), to: () => checked(stores.send) },
  "events swept": { begin: () => stores.setStores("swept"), to: () => checked(stores.send) },
  "stores broken": { begin: () => stores.setStores("broken"), to: () => checked(stores.send) },
};

describe.each(Object.entries(surroundings))("surroundings: %s", (name, { begin, end, to = () => send }) => {
  beforeAll(async () => {
    await begin?.();
  });
  afterAll(async () => {
    await end?.();
  });

  const here = rows.filter((each) => (each.surroundings ?? "well") === name);
  test.each(here)("$route answers $answer: $title", async (row) => {
    const sid = await makeSession(to(), row);
    if (row.isReusing === true) await useIdempotencyKey(to(), row);
    for (let sent = 0; sent < (row.before ?? 0); sent++) {
      await (row.isThrottled ? sendWrongKey(to(), row) : sendCase(to(), row, sid));
    }
    const answer = await sendCase(to(), row, sid);
    if (answer.status >= 400) refusals.add(refusalOf(answer.body));
    expect(answer.text).not.toContain(internalCause);
    const { method, generation } = routeOf(row.route);
    const isDetailed = generation === "v2" && answer.status >= 400;
    expect({
      answer: answered(row, answer),
      content: contentOf(row, answer),
      againstOpenApi:
        answer.status === 302 ? null : checkAnswer(method, pathTemplate(routeOf(row.route)), answer),
    }).toMatchObject({
      answer: row.answer,
      content: isDetailed ? { details: row.expected } : row.expected,
      againstOpenApi: null,
    });
  });
});

/** Refusals of v1 that need many requests, or rules of a community; tests of limits, sessions and admission cause them. */
const byOthers = / (?:second|platform_refusals|session_create|poll_\w+|blocked|game_taken|review_limit)$/;

test("every refusal in the OpenAPI document was received in at least one test case", async () => {
  const { components } = (await send("GET /openapi.json")).body;
  const shown = Object.entries(components?.["responses"] ?? {}).flatMap(([name, response]) =>
    Object.entries(response?.["content"]?.["application/json"]?.["examples"] ?? {}).map(
      ([code, example]) => [`${name} ${code}`, valueOf(example, components)] as const,
    ),
  );
  // Refusals in emulated APIs of other services have no status in their body. `compat_test.ts` tests these refusals.
  const own = shown.filter(([name, value]) => value["status"] !== undefined && !byOthers.test(name));
  expect(own.length).toBeGreaterThan(40);
  expect(own.filter(([, value]) => !refusals.has(refusalOf(value))).map(([name]) => name)).toEqual([]);
});

test.each(routes.map((route) => [route.id, route] as const))("cases cover each answer of %s", (id, route) => {
  const covered = cases.filter((each) => each.route === id).map(({ answer }) => answer);
  expect([...new Set<string>(covered)].toSorted()).toEqual(documentedAnswers(route).toSorted());
});
