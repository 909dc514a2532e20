/** Sends the examples of the OpenAPI document to the demo, and compares the answers. */
import { type Route, routes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plain } from "../contract/example_text.ts";
import { eventually } from "../support/eventually.ts";
import { type Answer, type Json, type RequestOptions, textOf } from "../support/http.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";

/**
 * All examples share one demo, so their order matters. A route without a number runs at 0 if it reads, else at 1. A new
 * route that reads needs no number: it sees the links of the fixture, and the one that `patchGame` adds.
 */
const places: Readonly<Record<string, number>> = {
  patchGame: -1,
  updateGame: -1,
  getAltReviews: 2,
  deleteGameLink: 2,
  deleteAltReview: 3,
  deleteData: 4,
  resetDatabase: 4,
};
const placeOf = ({ id, method }: Route): number => places[id] ?? (method === "GET" ? 0 : 1);
const inOrder = (generation: Route["generation"]) =>
  routes
    .filter((route) => route.generation === generation)
    .toSorted((one, other) => placeOf(one) - placeOf(other));

/** Returns the documented example of a successful answer of a route. */
const shownFor = (document: Json, { method, path, ...route }: Route): unknown => {
  const operation = document["paths"]?.[path.replace(":sid", "{sid}")]?.[method.toLowerCase()];
  return Object.values(operation?.["responses"]?.[String(route.status ?? 200)]?.["content"] ?? {})[0]?.[
    "example"
  ];
};

const contentOf = ({ headers, body, text }: Answer): unknown =>
  headers["content-type"] === "application/json" ? body : text;

describe.each(["v2", "v1"] as const)("the examples of %s", (generation) => {
  let running: RunningServer | undefined;
  let document: Json = {};
  const demo = () => running as RunningServer;

  beforeAll(async () => {
    running = await startServerHere({ fixture: "demo", env: { ACCOUNTLINK_STREAM_MAX: "100 millis" } });
    await eventually(() => expect(demo().output()).toContain("Stop with"));
    document = (await demo().send("GET /openapi.json")).body;
  });

  afterAll(() => running?.stop());

  const keyOf = () => textOf(/premium +(alk_\S+)/.exec(demo().output())?.[1]);

  const send = async (line: `${string} ${string}`, options: RequestOptions): Promise<Answer> => {
    const answer = await demo().send(line, options);
    if (answer.status !== 429) return answer;
    await new Promise((resolve) => setTimeout(resolve, Number(answer.headers["retry-after"]) * 1000));
    return send(line, options);
  };

  const makeSession = async (): Promise<string> => {
    const { body } = await send("POST /v2/sessions", { key: keyOf(), body: { clientId: "player-7" } });
    return textOf(body["data"]?.["sid"]);
  };

  const tryOut = async ({ method, path, source, example, access }: Route): Promise<Answer> => {
    const { sid, ...values } = example?.values ?? {};
    const target = sid === undefined ? path : path.replace(":sid", await makeSession());
    const pairs = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]);
    const query = source === "query" ? `?${new URLSearchParams(pairs)}` : "";
    return send(`${method} ${target}${query}`, {
      ...(access === "none" ? {} : { key: keyOf() }),
      ...(source === "body" ? { body: values } : {}),
    });
  };

  const answered = inOrder(generation).filter(({ access }) => access !== "redirect");
  test.each(answered)("the example of $id is right", async (route) => {
    const answer = await tryOut(route);
    expect({ status: answer.status, content: plain(contentOf(answer)) }).toEqual({
      status: route.status ?? 200,
      content: plain(shownFor(document, route)),
    });
  });
});
