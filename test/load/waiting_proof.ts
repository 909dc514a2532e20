/** Measures how much memory of a server each waiting client takes. docs/performance.md states this figure. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { type Answer, makeClient, textOf } from "../support/http.ts";
import { openReads } from "../support/open_reads.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const count = 2_000;
/** One key may have 16 event readers waiting on a node. */
const readersOfKey = 16;

/** Makes the server print its heap and its open handles after a garbage collection, on SIGUSR2. */
const probe = `
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    collectGarbage();
    console.error("held", process.memoryUsage().heapUsed, process.getActiveResourcesInfo().length);
  });`;

const fixtures = makeFixtures();
const keys = Array.from({ length: count / readersOfKey }, () =>
  fixtures.key({ kind: "staff", account: "waiting" }),
);
const keyOf = (index: number) => keys[Math.floor(index / readersOfKey)] ?? "";
let server: ServerProcess;
beforeAll(async () => {
  server = await startServer({
    fixture: fixtures.fixture,
    env: {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(probe)}`,
      ACCOUNTLINK_STORAGE: "memory",
      ACCOUNTLINK_CONNECTIONS: "10000",
      ACCOUNTLINK_SESSION_TTL: "30 minutes",
      ACCOUNTLINK_LONG_POLL_MAX: "20 minutes",
      ACCOUNTLINK_STREAM_MAX: "20 minutes",
      ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
      ACCOUNTLINK_SESSION_CREATE_BURST: "0",
    },
  });
});
afterAll(async () => expect(await server.stop()).toBe(0));

const heldByServer = async () => {
  const printed = () => [...server.output().matchAll(/^held (\d+) (\d+)$/gm)];
  const before = printed().length;
  process.kill(server.pid, "SIGUSR2");
  await eventually(() => expect(printed()).toHaveLength(before + 1));
  const [, heap, handles] = printed().at(-1) ?? [];
  return { heap: Number(heap), handles: Number(handles) };
};

const createSessions = async (): Promise<ReadonlyArray<string>> => {
  const sids: Array<string> = [];
  for (let index = 0; index < count; index++) {
    const { body } = await server.send("POST /v2/sessions", {
      key: keyOf(index),
      body: { clientId: "waiting" },
    });
    sids.push(textOf(body.data?.sid));
  }
  return sids;
};

const readSessions = async (query: string) => {
  const sids = await createSessions();
  const wake = async () => {
    for (const [index, sid] of sids.entries()) {
      await server.send(`DELETE /v2/sessions/${sid}`, { key: keyOf(index) });
    }
  };
  return { paths: sids.map((sid) => `/v2/sessions/${sid}${query}`), wake };
};

const readEvents = async () => {
  const body = { chatId: "100001", gameId: "1" };
  const wake = () => server.send("PATCH /v2/game", { key: keyOf(0), body });
  return { paths: Array.from({ length: count }, () => "/v2/events?wait=1200"), wake };
};

test.each([
  ["a session stream", "session_reads_open", () => readSessions("/stream")],
  ["a long poll of a session", "session_reads_open", () => readSessions("?wait=1200")],
  ["a reader of events", "event_readers_waiting", readEvents],
] as const)("%s costs at most 25 kB, and frees it when it is answered", async (_, metric, prepare) => {
  const { paths, wake } = await prepare();
  const before = await heldByServer();
  const client = makeClient(server.url);
  const answers: ReadonlyArray<Promise<Answer>> = paths.map((path, index) =>
    client.send(`GET ${path}`, { key: keyOf(index) }),
  );
  const untilOpen = openReads(server.send, metric);
  await untilOpen(count);
  const during = await heldByServer();
  await wake();
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  await untilOpen(0);
  client.close();
  await eventually(async () => {
    const after = await heldByServer();
    expect(after.handles - before.handles).toBeLessThan(10);
    expect((after.heap - before.heap) / count).toBeLessThan(3_000);
  });
  const each = (during.heap - before.heap) / count;
  console.log(`${(each / 1_000).toFixed(1)} kB`);
  expect(each).toBeLessThan(25_000);
});
