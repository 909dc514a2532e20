/**
 * Requests are answered by one pipeline on two ways: directly, or through Effect's HTTP server. Both give the same answer
 * to any request.
 */
import { once } from "node:events";
import { type IncomingMessage, request as nodeRequest } from "node:http";
import { routes } from "@accountlink/http-api";
import { isProof } from "@accountlink/test-servers";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Answer } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { linkedWorld, lookups, type RandomRequest, randomLookup, randomRequestTo } from "./random_request.ts";

const requests = isProof ? 20_000 : 2_000;

const { fixture, keys } = linkedWorld();
const server = useServer(() => ({ fixture }));
const { send } = server;

/** Effect's server answers what has a body of unknown length. */
const sendTheLongWay = ({ line, options }: RandomRequest) =>
  send(line, { ...options, headers: { ...options.headers, "transfer-encoding": "chunked" } });

/** What is different from request to request. */
const changing =
  /req_\w{26}|\d{4}-\d\d-\d\dT[\d:.]+Z|"remaining":\d+|(?<=x-ratelimit-\S+","?)\d+|"date","[^"]+"/g;

const comparable = ({ status, headers, text }: Answer): string =>
  JSON.stringify([status, Object.entries(headers), text])
    .replaceAll("\\", "")
    .replaceAll(changing, "…");

test(`${requests} random lookups have the same answer on both ways`, async () => {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(randomLookup(keys), async (request) => {
      const direct = await send(request.line, request.options);
      const other = await sendTheLongWay(request);
      statuses.add(direct.status);
      expect(comparable(direct)).toBe(comparable(other));
    }),
    { numRuns: requests / 2 },
  );
  expect([200, 400, 401, 403, 404].filter((status) => !statuses.has(status))).toEqual([]);
});

/** Without those that leave nothing to compare with: sessions are used up, links deleted. */
const others = routes.filter(
  ({ id, path }) => !lookups.some((lookup) => lookup.id === id) && !/session|data|keys/.test(path),
);

test(`${requests} random requests to the other routes, most of them with a body, have the same answer once they are repeated`, async () => {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(randomRequestTo(others, keys), async (request) => {
      statuses.add((await send(request.line, request.options)).status);
      const other = await sendTheLongWay(request);
      const direct = await send(request.line, request.options);
      expect(comparable(direct)).toBe(comparable(other));
    }),
    { numRuns: requests / 2 },
  );
  expect([200, 400, 401, 403, 404, 415].filter((status) => !statuses.has(status))).toEqual([]);
});

/** A bulk look-up of which the server has the head, but not yet the body. */
const beginBulk = async (key: string) => {
  const body = JSON.stringify({ chatIds: ["100001", "100002"] });
  const outgoing = nodeRequest(`${server.url()}/v2/chat/bulk`, {
    // A connection of its own, which ends with its answer.
    agent: false,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-length": body.length },
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  outgoing.flushHeaders();
  // What is sent after it, on another connection, is answered.
  await send("GET /v2/chat?chatId=100001", { key });
  return { outgoing, body, answered };
};

test("a body may come after its head, in pieces", async () => {
  const { outgoing, body, answered } = await beginBulk(keys[0] as string);
  outgoing.write(body.slice(0, 9));
  await send("GET /v2/chat?chatId=100001", { key: keys[0] as string });
  outgoing.end(body.slice(9));
  const [{ statusCode }] = await answered;
  expect(statusCode).toBe(200);
});

test("a wrong key is refused before its body has come", async () => {
  const { outgoing, answered } = await beginBulk(`${keys[0]}x`);
  const [{ statusCode }] = await answered;
  expect(statusCode).toBe(401);
  outgoing.destroy();
});
