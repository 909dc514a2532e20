/**
 * A hundred thousand requests to three nodes: their usage is exactly what the access log tells. A node that is killed
 * loses at most 5 seconds of it, and counts nothing twice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { KeyId } from "@accountlink/core";
import { addUsage, type UsageCounts, UsageStore, usageGroups } from "@accountlink/core/usage";
import { compatRoutes, routes } from "@accountlink/http-api";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect, Redacted } from "effect";
import { expect, test } from "vitest";
import { type Node, type Service, startService, whyNoService } from "../faults/service.ts";
import { makeFixtures, newToken } from "../support/fixtures.ts";
import type { RequestOptions } from "../support/http.ts";

const missing = await whyNoService();

const unknownSession = "A".repeat(43);

/** Of every group, some of which are refused or fail. */
const requests: ReadonlyArray<readonly [line: `${string} ${string}`, body?: RequestOptions["body"]]> = [
  ["GET /v2/chat?chatId=100001"],
  ["HEAD /v2/chat?chatId=100030"],
  ["GET /v2/chat"],
  ["GET /api/v1/public/chat-to-game?chatId=100001"],
  ["POST /v2/chat/bulk", { chatIds: ["100001", "100002", "100030"] }],
  ["POST /v2/game/bulk", "not JSON"],
  ["PATCH /v2/game", { chatId: "100005", gameId: "3" }],
  ["DELETE /api/v1/link/delete-game?chatId=100030"],
  ["GET /v2/alts?chatId=100001"],
  ["POST /v2/alts/bulk", { gameIds: [] }],
  ["POST /v2/sessions", { clientId: "client" }],
  [`GET /v2/sessions/${unknownSession}`],
  ["GET /v2/events?from=oldest"],
  ["GET /v2/events?limit=0"],
  ["GET /v2/nothing"],
];

const fixtures = makeFixtures();
const links = { 100001: "1", 100002: "2" };
const makeKeys = () => [
  ...[1, 2, 3].map(() => fixtures.key({ tier: "premium", kind: "staff", links })),
  fixtures.key({ kind: "partner", limits: { perWindow: 3, windowMs: 1_000 } }),
  fixtures.key({ allowIps: ["192.0.2.1"] }),
  newToken(),
];

const anyOf = <A>(values: ReadonlyArray<A>): A => values[Math.floor(Math.random() * values.length)] as A;

/** Sends requests to nodes, until there were so many or a signal ends it. Some clients leave before their answer. */
const sendMany = async (
  nodes: ReadonlyArray<Node>,
  keys: ReadonlyArray<string>,
  amount: number,
  signal = new AbortController().signal,
): Promise<void> => {
  let sent = 0;
  const send = async () => {
    while (sent++ < amount && !signal.aborted) {
      const [[line, body], node, key] = [anyOf(requests), anyOf(nodes), anyOf(keys)];
      const isLeaving = Math.random() < 0.01;
      const headers = { authorization: `Bearer ${key}` };
      const asked = isLeaving
        ? fetch(`${node.url()}/v2/events?wait=5`, { headers, signal: AbortSignal.timeout(anyOf([1, 5, 20])) })
        : node.send(line, { key, ...(body === undefined ? {} : { body }) });
      await asked.catch(() => null);
    }
  };
  await Promise.all(Array.from({ length: 24 }, send));
};

/** Numbers of requests by key, group and outcome, such as `{"0123456789ab lookup": {served: 1, …}}`. */
type Usage = Readonly<Record<string, UsageCounts>>;

const outcomes = ["served", "refused", "errors"] as const;
const nothing: UsageCounts = { served: 0, refused: 0, errors: 0 };

const sumOf = (parts: ReadonlyArray<readonly [name: string, counts: UsageCounts]>): Usage => {
  const sum: Record<string, UsageCounts> = {};
  for (const [name, counts] of parts) sum[name] = addUsage(sum[name] ?? nothing, counts);
  return sum;
};

const requestsIn = (usage: Usage): number =>
  Object.values(usage).reduce((sum, { served, refused, errors }) => sum + served + refused + errors, 0);

const groupsOfRoutes = new Map([...routes, ...compatRoutes].map(({ id, group }) => [id, group]));

interface LogLine {
  readonly timestamp: string;
  readonly annotations: {
    readonly key: string | null;
    readonly route: string;
    readonly status: number;
    readonly code: string | null;
  };
}

const outcomeOf = ({ status, code }: LogLine["annotations"]): keyof UsageCounts => {
  if (status < 400 || (status === 404 && code === "LINK_NOT_FOUND")) return "served";
  return status === 429 ? "refused" : "errors";
};

/** What the access log of nodes tells of their keys, up to a time. */
const loggedUsage = (nodes: ReadonlyArray<Node>, until = Infinity): Usage =>
  sumOf(
    nodes
      .flatMap(({ output }) => output().split("\n"))
      .filter((line) => line.includes('"Request answered"'))
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ timestamp, annotations }) => annotations.key !== null && Date.parse(timestamp) <= until)
      .map(({ annotations }) => [
        `${annotations.key} ${groupsOfRoutes.get(annotations.route)}`,
        { ...nothing, [outcomeOf(annotations)]: 1 },
      ]),
  );

const storedUsage = ({ postgres }: Service, keys: ReadonlyArray<string>): Promise<Usage> =>
  Effect.gen(function* () {
    const store = yield* UsageStore;
    const parts: Array<readonly [string, UsageCounts]> = [];
    for (const key of keys.map((token) => KeyId.make(token.slice(4, 16)))) {
      for (const { from: _, group, ...counts } of yield* store.days({ key }, 0)) {
        parts.push([`${key} ${group}`, counts]);
      }
    }
    return sumOf(parts);
  }).pipe(
    Effect.provide(StoragePostgres.layerPostgres({ url: Redacted.make(postgres.urlOf("postgres")) })),
    Effect.runPromise,
  );

const env = { ACCOUNTLINK_LOG_LEVEL: "debug" };

test.skipIf(missing !== null)(
  `usage equals the access log over 100,000 requests, also when Postgres is cut off at times ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const keys = makeKeys();
      const service = yield* startService({ fixture: fixtures.fixture, env });
      const { nodes } = service;
      const [first] = nodes as readonly [Node, ...ReadonlyArray<Node>];
      const under = new AbortController();
      const cutAtTimes = Effect.gen(function* () {
        while (!under.signal.aborted) {
          yield* Effect.sleep(2_000 + Math.random() * 4_000);
          yield* first.links.postgres.cut;
          yield* Effect.sleep(Math.random() * 2_000);
          yield* first.links.postgres.restore;
        }
      });
      const sendAll = Effect.promise(() => sendMany(nodes, keys, 100_000).finally(() => under.abort()));
      yield* Effect.all([cutAtTimes, sendAll], { concurrency: "unbounded" });
      for (const { stop } of nodes) expect(yield* stop).toBe(0);
      const logged = loggedUsage(nodes);
      expect(yield* Effect.promise(() => storedUsage(service, keys))).toEqual(logged);
      const kinds = Object.entries(logged).flatMap(([name, counts]) =>
        outcomes
          .filter((outcome) => counts[outcome] > 0)
          .map((outcome) => `${name.split(" ")[1]} ${outcome}`),
      );
      const everyKind = usageGroups.flatMap((group) => outcomes.map((outcome) => `${group} ${outcome}`));
      expect(new Set(kinds)).toEqual(new Set(everyKind));
    }).pipe(Effect.scoped, Effect.runPromise),
);

test.skipIf(missing !== null)(
  `a node that is killed loses at most 5 seconds of usage and counts nothing twice ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const rounds = Array.from({ length: 5 }, () => [makeKeys(), makeKeys()] as const);
      const service = yield* startService({ fixture: fixtures.fixture, env });
      const [one, ...others] = service.nodes as readonly [Node, ...ReadonlyArray<Node>];
      for (const [own, shared] of rounds) {
        const gone = new AbortController();
        const sending = [
          sendMany([one], own, Infinity, gone.signal),
          sendMany(others, shared, Infinity, gone.signal),
        ];
        yield* Effect.promise(() => sleep(6_000 + Math.random() * 4_000));
        const killedAt = Date.now();
        yield* one.kill;
        gone.abort();
        yield* Effect.promise(() => Promise.all(sending));
        const stored = requestsIn(yield* Effect.promise(() => storedUsage(service, own)));
        const early = requestsIn(loggedUsage([one], killedAt - 5_000));
        expect(early).toBeGreaterThan(0);
        expect(stored).toBeGreaterThanOrEqual(early);
        expect(stored).toBeLessThanOrEqual(requestsIn(loggedUsage([one])));
        yield* one.restart;
      }
    }).pipe(Effect.scoped, Effect.runPromise),
);
