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
import { startServer } from "../support/server.ts";
import { gameUsers, makeWorld, type World } from "../support/world.ts";
import { balancers, readExample } from "./balancers.ts";
import { type CountReport, startCountingClients } from "./counting_clients.ts";
import { type ClientReport, startClients } from "./restart_clients.ts";

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

/**
 * Restarts three nodes one after the other while clients of each balancer read and write.
 *
 * @returns what the clients saw, by balancer
 */
export const runRollingRestarts = (rounds: number): Promise<Readonly<Record<string, ClientReport>>> =>
  Effect.gen(function* () {
    const world = makeWorld();
    const keys = balancers.map(() => world.key());
    const { nodes } = yield* startNodes(world);
    const servers = nodes.map(({ host }) => host);
    const ports = yield* Effect.forEach(balancers, ({ start }) => start({ servers }));
    const groups = ports.map((port, index) =>
      startClients({ url: `https://127.0.0.1:${port}`, key: keys[index] ?? "", count: clientsOfEach }),
    );
    yield* Effect.forEach(nodes, ({ restart }) => restart, { discard: true }).pipe(
      Effect.repeat(Schedule.recurs(rounds - 1)),
    );
    const reports = yield* Effect.promise(() => Promise.all(groups.map(({ stop }) => stop())));
    return Object.fromEntries(balancers.map(({ name }, index) => [name, reports[index] as ClientReport]));
  }).pipe(Effect.scoped, Effect.runPromise);

/** What clients did through a balancer, and which of their writes the balancer sent twice, as far as it tells. */
export interface CountedReport extends CountReport {
  readonly sentTwice: ReadonlyArray<string>;
}

/**
 * Restarts or kills three nodes one after the other while clients of each balancer write what can be counted.
 *
 * @returns what the clients saw, by balancer
 */
export const runCountedRestarts = (
  rounds: number,
  way: "restart" | "kill",
): Promise<Readonly<Record<string, CountedReport>>> =>
  Effect.gen(function* () {
    const world = makeWorld();
    const keys = balancers.map(() => world.key());
    const { nodes, database } = yield* startNodes(world);
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
        const url = `https://127.0.0.1:${port}`;
        const stop = startCountingClients({ url, key, count: clientsOfEach });
        return { name, log, key, stop };
      }),
    );
    yield* Effect.forEach(nodes, (node) => node[way], { discard: true }).pipe(
      Effect.repeat(Schedule.recurs(rounds - 1)),
    );
    const reports = yield* Effect.forEach(
      groups,
      Effect.fnUntraced(function* ({ name, log, key, stop }) {
        const report = yield* Effect.promise(stop);
        const [row] = yield* database.query(
          `SELECT COUNT(*) AS count FROM verification_sessions WHERE key_id = '${key.split("_")[1]}'`,
        );
        const surplus = Number(row?.["count"]) - report.sessions;
        const isRight = surplus >= 0 && surplus <= report.unanswered;
        const miscounted = isRight ? [] : [`${surplus} sessions more than were answered`];
        const sentTwice = yield* Effect.promise(() => writesSentTwice(log));
        return [name, { ...report, miscounted: [...report.miscounted, ...miscounted], sentTwice }] as const;
      }),
      { concurrency: "unbounded" },
    );
    return Object.fromEntries(reports);
  }).pipe(Effect.scoped, Effect.runPromise);

/** The lines of a log of attempts with a write of which more than one server has got something. */
const writesSentTwice = async (log: string): Promise<ReadonlyArray<string>> => {
  const lines = await readFile(log, "utf8").catch(() => "");
  return lines.split("\n").filter((line) => {
    const [, method = "", attempts = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    const sent = attempts.split(/[,:] /).filter((bytes) => Number(bytes) > 0);
    return (method === "PATCH" || method === "POST") && sent.length > 1;
  });
};

/**
 * Stops a node that clients ask without a balancer between, some with a connection that they keep, some with a new one
 * for each request.
 *
 * @returns what they saw until its port was closed
 */
export const stopUnderClients = async (): Promise<ReadonlyArray<ClientReport>> => {
  const world = makeWorld();
  const keys = [world.key(), world.key()];
  const server = await startServer({ fixture: world.fixture });
  // Of game users that were asked for, the platform is not asked again, which on a busy machine would answer too late.
  for (const { id: gameId } of gameUsers) {
    const body = { chatId: "100001", gameId };
    const isLinked = async () =>
      (await server.send("PATCH /v2/game", { key: keys[0] ?? "", body })).status === 200;
    while (!(await isLinked())) await sleep(100);
  }
  const groups = keys.map((key, index) =>
    startClients({
      url: server.url,
      key,
      // Node accepts one connection in each turn of the event loop. More clients, and it is always behind.
      count: index === 0 ? clientsOfEach : 4,
      untilRefused: true,
      keepAlive: index === 0,
    }),
  );
  while (groups.some(({ report: { reads, writes } }) => reads + writes < 20)) await sleep(10);
  const code = await server.stop();
  if (code !== 0) throw new Error(`Cannot go on: the node ended with ${code}, expected 0`);
  return Promise.all(groups.map(({ refused }) => refused));
};

const startNodes = Effect.fnUntraced(function* ({ fixture }: World) {
  const database = yield* makePostgresDatabase();
  const env = {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: database.url,
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: yield* redisUrl,
    ACCOUNTLINK_REDIS_PREFIX: `test-${randomBytes(8).toString("hex")}:`,
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    ACCOUNTLINK_SESSION_CREATE_BURST: "0",
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
  return { nodes, database };
});
