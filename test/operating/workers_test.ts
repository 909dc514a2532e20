/** Several processes that serve one port. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import {
  isProof,
  makePostgresDatabase,
  startRedis,
  whyNoPostgresDatabase,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Answer, makeClient, textOf } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { chatUsers, makeWorld } from "../support/world.ts";
import { startClients } from "./restart_clients.ts";

const world = makeWorld();
const key = world.key();
/** With data of its own. */
const otherKey = world.key();
const limited = world.key({ limits: { perWindow: 100, windowMs: 60_000 } });

const scope = Scope.makeUnsafe();
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

/** Starts a Postgres and a Redis, and gives the variables that lead to them. */
const startDatabases = async () => {
  const all = Effect.all([makePostgresDatabase(), startRedis()]);
  const [database, redis] = await Effect.runPromise(Scope.provide(all, scope));
  return {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: database.url,
    ACCOUNTLINK_SECRET: Buffer.alloc(32, "s").toString("base64"),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis.url,
  };
};

/** What workers may share, the embedded storage in the proof alone, and why it cannot be had here; null when it can. */
const kinds = [
  ...(isProof ? [{ kind: "the embedded storage", missing: null, variables: async () => ({}) }] : []),
  {
    kind: "Postgres and Redis",
    missing: (await whyNoPostgresDatabase()) ?? (await whyNoRedis()),
    variables: startDatabases,
  },
];

const start = (env: Readonly<Record<string, string>>, dataFolder?: string): Promise<ServerProcess> =>
  startServer({
    fixture: world.fixture,
    env: {
      ACCOUNTLINK_WORKERS: "2",
      ACCOUNTLINK_SESSION_CREATE_BURST: "0",
      ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
      ACCOUNTLINK_IDLE_TIMEOUT: "10 seconds",
      ACCOUNTLINK_OPERATOR_PORT: "0",
      ...env,
    },
    ...(dataFolder === undefined ? {} : { dataFolder }),
  });

/** The processes that were said to serve, by the number of the worker; the last of each. */
const pidsOf = ({ output }: ServerProcess): ReadonlyMap<number, number> =>
  new Map(
    [...output().matchAll(/"A worker serves".*"worker":(\d+),"pid":(\d+)/g)].map(([, worker, pid]) => [
      Number(worker),
      Number(pid),
    ]),
  );

const pidOf = (server: ServerProcess, worker: number): number => pidsOf(server).get(worker) ?? Number.NaN;

/** Clients with a connection each. Connections are handed out in turn, so every worker has some. */
const connections = (url: string, count: number) => {
  const clients = Array.from({ length: count }, () => makeClient(url));
  onTestFinished(() => {
    for (const { close } of clients) close();
  });
  return clients.map(({ send }) => send);
};

/** Sends a request of operators. */
const operate = async ({ output }: ServerProcess, line: `GET ${string}`): Promise<Answer> => {
  const [, port = ""] = /"Operators are served".*"port":(\d+)/.exec(output()) ?? [];
  const { send, close } = makeClient(`http://127.0.0.1:${port}`);
  return send(line).finally(close);
};

/** How many requests for a chat user each worker has answered. */
const lookupsByWorker = async (server: ServerProcess): Promise<Readonly<Record<string, number>>> => {
  const { text } = await operate(server, "GET /metrics");
  const counts: Record<string, number> = {};
  for (const [, worker = "", count] of text.matchAll(
    /^accountlink_http_requests_total\{worker="(\w+)",.*route="getChat".*\} (\d+)$/gm,
  )) {
    counts[worker] = (counts[worker] ?? 0) + Number(count);
  }
  return counts;
};

for (const { kind, missing, variables } of kinds) {
  describe.skipIf(missing !== null)(`two workers on ${kind} ${missing ?? ""}`, () => {
    let server: ServerProcess;
    beforeAll(async () => {
      server = await start(await variables());
    });
    afterAll(() => server.kill());

    test("serve one port, with the metrics of all and limits that are exact over them", async () => {
      expect(new Set([server.pid, ...pidsOf(server).values()]).size).toBe(3);

      const answers = await Promise.all(
        connections(server.url, 20).map(async (send) => {
          const statuses: Array<number> = [];
          for (let request = 0; request < 10; request++) {
            statuses.push((await send("GET /v2/chat?chatId=100001", { key: limited })).status);
          }
          return statuses;
        }),
      );
      const statuses = answers.flat();
      expect(statuses.filter((status) => status === 404).length).toBe(100);
      expect(statuses.filter((status) => status === 429).length).toBe(100);
      expect((await server.send("GET /v2/chat?chatId=100001", { key: "wrong" })).status).toBe(401);
      // The line of a worker may be read after its answer.
      await vi.waitFor(
        () => expect(server.output()).toMatch(/"message":"Wrong key"[^\n]*"worker":[12][,}]/),
        patience,
      );
      const lookups = await lookupsByWorker(server);
      expect(lookups).toEqual({ 1: expect.any(Number), 2: expect.any(Number) });
      expect((lookups["1"] ?? 0) + (lookups["2"] ?? 0)).toBe(201);
    });

    test("wake the readers of sessions that the other one changes", async () => {
      const [change, ...readers] = connections(server.url, 9);
      if (change === undefined) throw new Error("Cannot go on: there is no connection");
      const reads = await Promise.all(
        readers.map(async (send, index) => {
          const created = await change("POST /v2/sessions", { key, body: { clientId: "client" } });
          const sid = textOf(created.body.data?.["sid"]);
          return { sid, read: send(`GET /v2/sessions/${sid}${index < 4 ? "?wait=20" : "/stream"}`, { key }) };
        }),
      );
      await vi.waitFor(async () => {
        const { text } = await operate(server, "GET /metrics");
        const open = [...text.matchAll(/^accountlink_session_reads_open\{worker="\d"\} (\d)$/gm)];
        const counts = open.map(([, count]) => Number(count));
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8);
        expect(Math.min(...counts)).toBeGreaterThan(0);
      }, patience);
      const started = performance.now();
      for (const { sid } of reads)
        expect((await change(`DELETE /v2/sessions/${sid}`, { key })).status).toBe(200);
      for (const { read } of reads) expect((await read).text).toContain('"state":"cancelled"');
      expect(performance.now() - started).toBeLessThan(15_000);
    });

    test("lose no answered write and go on when one is killed, which is replaced", async () => {
      const killed = pidOf(server, 2);
      const answered = new Map<string, string>();
      const stopped = new AbortController();
      const unexpected: Array<number> = [];
      let lost = 0;
      const writers = chatUsers.slice(0, 8).map(async ({ id: chatId }) => {
        for (let write = 1; !stopped.signal.aborted; write++) {
          const { send, close } = makeClient(server.url);
          const gameId = String((write % 9) + 1);
          try {
            const { status } = await send("PATCH /v2/game", { key, body: { chatId, gameId } });
            if (status === 200) answered.set(chatId, gameId);
            else unexpected.push(status);
          } catch {
            lost++;
            // It may have been written or not.
            answered.delete(chatId);
          }
          close();
          // The new worker needs some of the machine to start.
          await sleep(20);
        }
      });
      await vi.waitFor(() => expect(answered.size).toBe(8), patience);
      process.kill(killed, "SIGKILL");
      await vi.waitFor(() => expect(pidOf(server, 2)).not.toBe(killed), patience);
      stopped.abort();
      await Promise.all(writers);
      expect(unexpected).toEqual([]);
      // Each writer has one request under way at most.
      expect(lost).toBeLessThanOrEqual(8);
      expect(server.output()).toMatch(/"A worker ended and will be replaced".*"signal":"SIGKILL"/);

      for (const send of connections(server.url, 4)) {
        for (const [chatId, gameId] of answered) {
          const { body } = await send(`GET /v2/chat?chatId=${chatId}`, { key });
          expect(body.data?.["gameId"]).toBe(gameId);
        }
      }
      expect(Object.keys(await lookupsByWorker(server))).toEqual(["1", "2"]);
    });

    test("answer a connection that was on its way to a worker which is killed", async () => {
      const frozen = pidOf(server, 1);
      process.kill(frozen, "SIGSTOP");
      const asked = Array.from({ length: 6 }, () => ask(server.url));
      const answered = () => asked.filter(({ answer }) => answer().startsWith("HTTP/1.1 200 ")).length;
      await vi.waitFor(() => expect(answered()).toBeGreaterThanOrEqual(3), patience);
      expect(answered()).toBeLessThan(6);
      process.kill(frozen, "SIGKILL");
      await vi.waitFor(() => expect(answered()).toBe(6), patience);
      await vi.waitFor(() => expect(pidOf(server, 1)).not.toBe(frozen), patience);
    });

    test("drain on SIGTERM, and no request that was accepted fails", async () => {
      // The one time in a hundred that a busy machine resets a connection as the port is closed, CI runs this again.
      if (!isRunning(server.pid)) server = await start(await variables());
      expect(await operate(server, "GET /readyz")).toMatchObject({ status: 200, body: { status: "ready" } });
      const { text } = await operate(server, "GET /metrics");
      for (const worker of ["primary", "1", "2"]) {
        expect(text).toContain(`\nprocess_cpu_seconds_total{worker="${worker}"} `);
      }

      const clients = [
        startClients({ url: server.url, key, count: 20, untilRefused: true }),
        startClients({ url: server.url, key: otherKey, count: 20, untilRefused: true, keepAlive: false }),
      ];
      await vi.waitFor(() => {
        for (const { report } of clients) expect(report.reads).toBeGreaterThan(20);
      }, patience);
      const ended = server.output().match(/"A worker ended/g)?.length;
      process.kill(server.pid, "SIGTERM");
      // As supervisors do that signal every process of a service.
      for (const pid of pidsOf(server).values()) process.kill(pid, "SIGTERM");
      const reports = await Promise.all(clients.map(({ refused }) => refused));
      // A store that is late on a busy machine is an answer too.
      const failures = reports
        .flatMap((report) => report.failures)
        .filter((each) => !each.includes(": 503 "));
      const exitCode = await server.stop();
      expect({ failures, exitCode }).toEqual({ failures: [], exitCode: 0 });
      expect(server.output().match(/"A worker ended/g)?.length).toBe(ended);
    });
  });
}

/** Sends a request on a connection of its own. */
const ask = (url: string): { readonly answer: () => string } => {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  socket.write("GET /healthz HTTP/1.1\r\nHost: accountlink\r\n\r\n");
  return { answer: () => answer };
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a start that fails is refused once, by the first worker", async () => {
  const refused = start({
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: "postgres://127.0.0.1:1/none",
    ACCOUNTLINK_DATABASE_START_TIMEOUT: "0 seconds",
    ACCOUNTLINK_SECRET: Buffer.alloc(32, "s").toString("base64"),
  });
  await expect(refused).rejects.toThrow(
    /it ended with code 1 and printed\nCannot use database "127\.0\.0\.1:1\/none": [^\n]*\n$/,
  );
});

test("workers keep their data folder from another server, and end when the primary process is killed", async () => {
  const server = await start({});
  onTestFinished(() => server.kill());
  await expect(start({}, server.dataFolder)).rejects.toThrow(
    `Cannot start: data folder "${server.dataFolder}" is in use by process ${server.pid}, expected one server per folder`,
  );
  const pids = [...pidsOf(server).values()];
  expect(pids).toHaveLength(2);
  process.kill(server.pid, "SIGKILL");
  await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), patience);
});
