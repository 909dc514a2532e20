/**
 * Each route × each of its documented answers, over real HTTP.
 */
import { type Route, refusalsOf, routes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrokenStores, internalCause, startOnBrokenStores } from "../support/broken_stores.ts";
import { devPlatformOn, freePort } from "../support/dev_platform.ts";
import { type Answer, type RequestOptions, type Send, textOf } from "../support/http.ts";
import { type Case, cases, type Surroundings } from "./cases.ts";
import { checked, useContractServer } from "./contract_server.ts";
import { answerChecker } from "./openapi_schemas.ts";

const platformPort = await freePort();
const { world, send } = useContractServer({
  ACCOUNTLINK_DEV_PLATFORM_PORT: String(platformPort),
  ACCOUNTLINK_IP_DAILY: "3",
  ACCOUNTLINK_IP_AUTH_FAILURES: "3",
});

/** A case with a key and an address of its own. */
interface Row extends Omit<Case, "key"> {
  readonly key: string | null;
  readonly from: string;
}

const rows = cases.map(
  ({ key, ...rest }): Row => ({
    ...rest,
    key: key === null ? null : world.key({ ...key, links: { 100001: "1", 100002: "2" } }),
    from: world.address(),
  }),
);

const routeById = new Map(routes.map((route) => [route.id, route]));
const routeOf = (id: string): Route => {
  const route = routeById.get(id);
  if (route === undefined) throw new Error(`Cannot find route "${id}"`);
  return route;
};

/** What a route documents: every status with every code of it, and the successes, which have none. */
const documentedAnswers = (route: Route): Array<string> => [
  "200 -",
  ...(route.access === "key_or_redirect" ? ["302 -"] : []),
  ...refusalsOf(route).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`)),
];

const sendCase = (to: Send, { route, values, raw, key, from }: Row): Promise<Answer> => {
  const { method, path, source } = routeOf(route);
  const { query, ...options } = raw ?? {};
  const pairs = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]);
  const search = query ?? (source === "query" ? new URLSearchParams(pairs).toString() : "");
  const request: RequestOptions = {
    from,
    ...(key === null ? {} : { key }),
    ...(source === "body" && raw?.headers === undefined ? { body: values } : {}),
    ...options,
  };
  return to(`${method} ${path}${search === "" ? "" : `?${search}`}`, request);
};

/** What the case says something of. */
const contentOf = (row: Row, { status, headers, body }: Answer): unknown => {
  if (status === 200) return body.data;
  if (status === 302) return headers.location?.replace(/^http:\/\/127\.0\.0\.1:\d+/, "");
  return routeOf(row.route).generation === "v1" ? body.error : { details: body.error?.details };
};

/** Status and code; that of v1 has to be taken from the case. */
const answered = (row: Row, { status, body }: Answer): string => {
  const [, code = ""] = row.answer.split(" ");
  if (routeOf(row.route).generation === "v1") return `${status} ${code}`;
  return `${status} ${body.error === undefined ? "-" : textOf(body.error.code)}`;
};

let stores: BrokenStores;
let checkAnswer: ReturnType<typeof answerChecker>;
const platform = devPlatformOn(platformPort);

beforeAll(async () => {
  stores = await startOnBrokenStores(world.fixture);
  checkAnswer = answerChecker((await send("GET /openapi.json")).body);
});
afterAll(async () => {
  platform.close();
  await stores.stop();
});

/** How each of the surroundings comes about. */
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
  "stores broken": { begin: () => stores.setStores("broken"), to: () => checked(stores.send) },
};

describe.each(Object.entries(surroundings))(
  "With everything else %s",
  (name, { begin, end, to = () => send }) => {
    beforeAll(async () => {
      await begin?.();
    });
    afterAll(async () => {
      await end?.();
    });

    const here = rows.filter((each) => (each.surroundings ?? "well") === name);
    test.each(here)("$route answers $answer: $title", async (row) => {
      for (let sent = 0; sent < (row.before ?? 0); sent++) await sendCase(to(), row);
      const answer = await sendCase(to(), row);
      expect(answer.text).not.toContain(internalCause);
      const { method, path, generation } = routeOf(row.route);
      const isDetailed = generation === "v2" && answer.status >= 400;
      expect({
        answer: answered(row, answer),
        content: contentOf(row, answer),
        againstOpenApi: answer.status === 302 ? null : checkAnswer(method, path, answer),
      }).toMatchObject({
        answer: row.answer,
        content: isDetailed ? { details: row.expected } : row.expected,
        againstOpenApi: null,
      });
    });
  },
);

describe("The table", () => {
  test.each(routes.map((route) => [route.id, route] as const))(
    "has a case for each answer of %s",
    (id, route) => {
      const covered = cases.filter((each) => each.route === id).map(({ answer }) => answer);
      expect([...new Set<string>(covered)].toSorted()).toEqual(documentedAnswers(route).toSorted());
    },
  );

  test("is printed", () => {
    const statusOf = ({ answer }: Case) => Number(answer.split(" ", 1)[0]);
    const statuses = [...new Set(cases.map(statusOf))].toSorted((one, other) => one - other);
    const line = (title: string, cells: ReadonlyArray<string | number>) =>
      title.padEnd(40) + cells.map((cell) => String(cell).padStart(5)).join("");
    const lines = routes.map(({ id, method, path }) => {
      const own = cases.filter(({ route }) => route === id);
      const counts = statuses.map((status) => own.filter((each) => statusOf(each) === status).length);
      return line(
        `${method} ${path}`,
        counts.map((count) => (count === 0 ? "·" : count)),
      );
    });
    console.log([line(`${cases.length} cases over real HTTP`, statuses), ...lines].join("\n"));
    expect(lines).toHaveLength(routes.length);
  });
});
