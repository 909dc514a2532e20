/**
 * Requests of every group and with many outcomes to two nodes on one Postgres and Redis, and whether the usage that is
 * stored agrees with the access log.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { KeyId } from "@accountlink/core";
import {
  addUsage,
  type UsageCounts,
  type UsageOutcome,
  UsageStore,
  usageGroups,
} from "@accountlink/core/usage";
import { compatRoutes, routes } from "@accountlink/http-api";
import { StorageSql } from "@accountlink/storage-sql";
import { startPostgres, startProxy, startRedis, whyNoPostgres, whyNoRedis } from "@accountlink/test-servers";
import { Effect, Exit, Redacted, Scope } from "effect";
import { type RunningServer, startServer } from "../support/server.ts";
import { makeWorld, newToken } from "../support/world.ts";
import { type Callers, sendOne } from "./usage_requests.ts";

/** Why there cannot be two nodes here, or null: for the title of a skip. */
export const whyNoNodes = async (): Promise<string | null> => (await whyNoPostgres()) ?? (await whyNoRedis());

/** Numbers of requests by key, group and outcome, such as `{"0123456789ab lookup": {served: 1, …}}`. */
type Usage = Readonly<Record<string, UsageCounts>>;

const nothing: UsageCounts = { served: 0, refused: 0, errors: 0 };

/** Two nodes, each with keys of its own besides those of both. */
const startNodes = async (scope: Scope.Scope) => {
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
    Effect.runPromise(Scope.provide(effect, scope));
  const postgres = await run(startPostgres());
  const redis = await run(startRedis());
  const proxy = await run(startProxy(postgres.port));
  const url = postgres.urlOf("postgres");
  const world = makeWorld();
  const makeCallers = (): Callers => ({
    premium: world.key({ tier: "premium", kind: "staff", links: { "100001": "1", "100002": "2" } }),
    free: world.key({ links: { "100001": "1" } }),
    limited: world.key({ kind: "partner", limits: { perWindow: 3, windowMs: 1_000 } }),
    elsewhere: world.key({ allowIps: ["192.0.2.1"] }),
    wrong: newToken(),
  });
  const shared = makeCallers();
  const own = [makeCallers(), makeCallers()] as const;
  const start = (databaseUrl: string) =>
    startServer({
      fixture: world.fixture,
      env: {
        ACCOUNTLINK_STORAGE: "postgres",
        ACCOUNTLINK_DATABASE_URL: databaseUrl,
        ACCOUNTLINK_CACHE: "redis",
        ACCOUNTLINK_REDIS_URL: redis.url,
        ACCOUNTLINK_SECRET: secret,
        ACCOUNTLINK_LOG_LEVEL: "debug",
      },
    });
  const secret = randomBytes(32).toString("base64");
  const one = await start(url);
  const two = await start(Object.assign(new URL(url), { port: String(proxy.port) }).href);
  const cutFor = async (milliseconds: number) => {
    await run(proxy.cut);
    await sleep(milliseconds);
    await run(proxy.restore);
  };
  return { url, shared, own, nodes: [one, two] as const, cutFor };
};

/** Runs a test on two nodes, which are gone afterwards. */
export const withNodes = async <A>(
  use: (nodes: Awaited<ReturnType<typeof startNodes>>) => Promise<A>,
): Promise<A> => {
  const scope = Scope.makeUnsafe();
  try {
    return await use(await startNodes(scope));
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void));
  }
};

const concurrency = 24;

/** Sends requests to the nodes in turn, until there were so many or a signal ends it. Gives how many were sent. */
export const sendMany = async (
  nodes: ReadonlyArray<RunningServer>,
  callers: ReadonlyArray<Callers>,
  amount: number,
  signal = new AbortController().signal,
): Promise<number> => {
  let sent = 0;
  const send = async () => {
    while (sent < amount && !signal.aborted) {
      const turn = sent++;
      const node = nodes[turn % nodes.length] as RunningServer;
      await sendOne(node, callers[turn % callers.length] as Callers).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: concurrency }, send));
  return sent;
};

const groupsOfRoutes = new Map([...routes, ...compatRoutes].map(({ id, group }) => [id, group]));

/** What the access log of a node tells of its keys, up to a time. */
export const loggedUsage = ({ output }: RunningServer, until = Infinity): Usage => {
  const usage: Record<string, UsageCounts> = {};
  for (const line of output().split("\n")) {
    if (!line.includes('"Request answered"')) continue;
    const { timestamp, annotations } = JSON.parse(line) as LogLine;
    const { key, route, status, code } = annotations;
    if (key === null || Date.parse(timestamp) > until) continue;
    const name = `${key} ${groupsOfRoutes.get(route)}`;
    usage[name] = addUsage(usage[name] ?? nothing, { ...nothing, [outcomeOf(status, code)]: 1 });
  }
  return usage;
};

interface LogLine {
  readonly timestamp: string;
  readonly annotations: {
    readonly key: string | null;
    readonly route: string;
    readonly status: number;
    readonly code: string | null;
  };
}

const outcomeOf = (status: number, code: string | null): UsageOutcome => {
  if (status < 400 || (status === 404 && code === "LINK_NOT_FOUND")) return "served";
  return status === 429 ? "refused" : "errors";
};

/** The sum of usages. */
export const sumOf = (...usages: ReadonlyArray<Usage>): Usage => {
  const sum: Record<string, UsageCounts> = {};
  for (const [name, counts] of usages.flatMap((usage) => Object.entries(usage))) {
    sum[name] = addUsage(sum[name] ?? nothing, counts);
  }
  return sum;
};

/** How many requests there are in a usage. */
export const requestsIn = (usage: Usage): number =>
  Object.values(usage).reduce((sum, { served, refused, errors }) => sum + served + refused + errors, 0);

/** The stored usage of keys, which is the same in hours and days. */
export const storedUsage = async (url: string, callers: ReadonlyArray<Callers>): Promise<Usage> => {
  const keys = callers.flatMap((each) => Object.values(each)).map((token) => KeyId.make(token.slice(4, 16)));
  const read = Effect.gen(function* () {
    const store = yield* UsageStore;
    const usageBy = (periods: "hours" | "days") =>
      Effect.map(
        Effect.forEach(keys, (key) =>
          Effect.map(store[periods]({ key }, 0), (found) =>
            found.map(({ from: _, group, ...counts }) => ({ [`${key} ${group}`]: counts })),
          ),
        ),
        (found) => sumOf(...found.flat()),
      );
    return { hours: yield* usageBy("hours"), days: yield* usageBy("days") };
  });
  const { hours, days } = await Effect.runPromise(
    Effect.provide(read, StorageSql.layerPostgres({ url: Redacted.make(url) })),
  );
  if (JSON.stringify(hours) !== JSON.stringify(days)) {
    throw new Error(`Cannot pass: hours are ${JSON.stringify(hours)}, expected ${JSON.stringify(days)}`);
  }
  return days;
};

/** Which groups and outcomes there are, such as `lookup served`, sorted. */
export const kindsIn = (usage: Usage): ReadonlyArray<string> => {
  const kinds = Object.entries(usage).flatMap(([name, counts]) =>
    Object.entries(counts).flatMap(([outcome, count]) =>
      count > 0 ? [`${name.split(" ")[1]} ${outcome}`] : [],
    ),
  );
  return [...new Set(kinds)].toSorted();
};

/** Every group with every outcome. */
export const everyKind = usageGroups
  .flatMap((group) => ["errors", "refused", "served"].map((outcome) => `${group} ${outcome}`))
  .toSorted();
