/** Rolling restarts of three nodes, behind both load balancers of deploy/ at once. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  freePort,
  makePostgresDatabase,
  redisUrl,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect, Schedule } from "effect";
import { parse } from "yaml";
import { type CountingClients, fragile, startCountingClients } from "../faults/counting_clients.ts";
import { type Fixtures, gameUsers, makeFixtures } from "../support/fixtures.ts";
import { makeClient } from "../support/http.ts";
import { startServer } from "../support/server.ts";
import { balancers, readExample } from "./balancers.ts";

/** Why no node can be restarted here, or null: for the title of a skip. */
export const whyNoRollingRestarts = async (): Promise<string | null> => {
  for (const whyNone of [whyNoPostgresDatabase, whyNoRedisUrl, ...balancers.map((each) => each.whyNone)]) {
    const reason = await whyNone();
    if (reason !== null) return reason;
  }
  return null;
};

/** What compose.yaml tells its servers. */
const { ACCOUNTLINK_DRAIN_DELAY, ACCOUNTLINK_IDLE_TIMEOUT } = parse(readExample("compose.yaml")).services
  .accountlink.environment as Readonly<Record<string, string>>;

/** Clients of each balancer, or of each kind. */
const clientsOfEach = 16;

export interface RestartReport {
  readonly requests: number;
  readonly writes: number;
  /** Requests that no node answered as it should, such as `PATCH /v2/game: broken`. */
  readonly lost: ReadonlyArray<string>;
  /** Writes that the balancer sent to more than one node, as far as it tells. */
  readonly sentTwice: ReadonlyArray<string>;
}

/**
 * Restarts or kills three nodes one after the other while clients of each balancer read and write, each on a connection
 * of its own. Throws if an answer is not what it has to be.
 *
 * @returns what the clients saw, by balancer
 */
export const runRollingRestarts = (
  rounds: number,
  way: "restart" | "kill",
): Promise<Readonly<Record<string, RestartReport>>> =>
  Effect.gen(function* () {
    const fixtures = makeFixtures();
    const keys = balancers.map(() => fixtures.key());
    const nodes = yield* startNodes(fixtures);
    const servers = nodes.map(({ host }) => host);
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "accountlink-attempts-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true })),
    );
    const groups = yield* Effect.forEach(
      balancers,
      Effect.fnUntraced(function* ({ name, start, logsAttempts }, index) {
        const [log, key = ""] = [join(folder, name), keys[index]];
        const port = yield* start({ servers, changes: logsAttempts(log) });
        return { name, log, clients: startClients(`https://127.0.0.1:${port}`, key, clientsOfEach) };
      }),
    );
    yield* Effect.forEach(nodes, (node) => node[way], { discard: true }).pipe(
      Effect.repeat(Schedule.recurs(rounds - 1)),
    );
    const reports = yield* Effect.forEach(groups, ({ name, log, clients }) =>
      Effect.promise(async () => {
        const writes = await clients.stop();
        const report: RestartReport = {
          requests: clients.attempts.length,
          writes,
          lost: lostOf(clients),
          sentTwice: await writesSentTwice(log),
        };
        return [name, report] as const;
      }),
    );
    return Object.fromEntries(reports);
  }).pipe(Effect.scoped, Effect.runPromise);

/** Starts clients of a server that keep a connection each, and notice whatever is not answered as it should be. */
export const startClients = (url: string, key: string, count: number, { keepAlive = true } = {}) => {
  const connections = Array.from({ length: count }, () => makeClient(url, { keepAlive }));
  const clients = startCountingClients({
    key,
    count,
    targetsOf: (client) => [fragile(url, (connections[client] as (typeof connections)[number]).send)],
    isNamed: (client) => client % 4 < 2,
    // Half of them pause for up to 4 seconds, until the connection is about to be dropped as idle.
    pause: (client) => (client % 2 === 0 ? 100 * Math.random() : 2 ** (Math.random() * 12)),
  });
  const stop = () =>
    clients.stop().finally(() => {
      for (const { close } of connections) close();
    });
  return { ...clients, stop };
};

/** The requests of clients that were not answered as they should be. */
export const lostOf = ({ attempts }: Pick<CountingClients, "attempts">): ReadonlyArray<string> =>
  attempts
    .filter(({ outcome }) => outcome.kind !== "answered")
    .map(({ line, outcome }) => `${line}: ${outcome.kind}`);

/** The lines of a log of attempts with a write of which more than one server has got something. */
const writesSentTwice = async (log: string): Promise<ReadonlyArray<string>> => {
  const lines = await readFile(log, "utf8").catch(() => "");
  return lines.split("\n").filter((line) => {
    const [, method = "", attempts = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    const sent = attempts.split(/[,:] /).filter((bytes) => Number(bytes) > 0);
    return method === "PATCH" && sent.length > 1;
  });
};

/**
 * Stops a node that clients ask without a balancer between, some with a connection that they keep, some with a new one
 * for each request.
 *
 * @returns the requests that were lost until its port was closed
 */
export const stopUnderClients = async (): Promise<ReadonlyArray<string>> => {
  const fixtures = makeFixtures();
  const keys = [fixtures.key(), fixtures.key()];
  const server = await startServer({ fixture: fixtures.fixture });
  // Of game users that were asked for, the platform is not asked again, which on a busy machine would answer too late.
  for (const { id: gameId } of gameUsers) {
    const body = { chatId: "100040", gameId };
    const isLinked = async () =>
      (await server.send("PATCH /v2/game", { key: keys[0] ?? "", body })).status === 200;
    while (!(await isLinked())) await sleep(100);
  }
  const groups = keys.map((key, index) =>
    // Node accepts one connection in each turn of the event loop. More clients, and it is always behind.
    startClients(server.url, key, index === 0 ? clientsOfEach : 4, { keepAlive: index === 0 }),
  );
  while (groups.some(({ attempts }) => attempts.length < 20)) await sleep(10);
  const code = await server.stop();
  if (code !== 0) throw new Error(`Cannot go on: the node ended with ${code}, expected 0`);
  for (const { stop } of groups) await stop();
  return groups.flatMap(lostOf).filter((lost) => !lost.endsWith("not sent"));
};

const startNodes = Effect.fnUntraced(function* ({ fixture }: Fixtures) {
  const database = yield* makePostgresDatabase();
  const env = {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: database.url,
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: yield* redisUrl,
    ACCOUNTLINK_REDIS_PREFIX: `test-${randomBytes(8).toString("hex")}:`,
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    ACCOUNTLINK_DRAIN_DELAY: `${ACCOUNTLINK_DRAIN_DELAY}`,
    ACCOUNTLINK_IDLE_TIMEOUT: `${ACCOUNTLINK_IDLE_TIMEOUT}`,
  };
  const nodes = yield* Effect.forEach([1, 2, 3], () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(freePort);
      const start = () => startServer({ fixture, env: { ...env, ACCOUNTLINK_PORT: `${port}` } });
      let server = yield* Effect.promise(start);
      yield* Effect.addFinalizer(() => Effect.promise(() => server.kill()));
      const restart = Effect.promise(async () => {
        const code = await server.stop();
        if (code !== 0) throw new Error(`Cannot go on: a node ended with ${code}, expected 0`);
        server = await start();
      });
      // The others have all of the load for a while.
      const kill = Effect.promise(async () => {
        await server.kill();
        await sleep(1_000);
        server = await start();
        await sleep(1_000);
      });
      return { host: `127.0.0.1:${port}`, restart, kill };
    }),
  );
  return nodes;
});
