import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { makeClient, textOf } from "../support/http.ts";
import { type ServerProcess, startServer, startServerHere } from "../support/server.ts";

const folder = useFolder();

const fixtures = makeFixtures();
const key = fixtures.key();

/** Starts a server and sends it a write. The write waits for the slow game platform for up to three seconds. */
const startSlowWrite = async (dataFolder: string) => {
  const server = await startServer({ fixture: fixtures.fixture, dataFolder });
  const { fail, recover, send } = server.platform;
  await fail({ mode: "slow", platform: "game", delayMs: 60_000, times: 2 });
  const client = makeClient(server.url);
  const answer = client.send("PATCH /v2/game", { key, body: { chatId: "100001", gameId: "1" } });
  // The write is in flight once the server has asked the game platform.
  await eventually(async () => expect((await send("GET /requests")).text).toContain("/game/api/users"));
  return { server, answer, recover, close: client.close };
};

const signal = ({ pid }: ServerProcess, name: NodeJS.Signals) => process.kill(pid, name);

const accepts = (url: string): Promise<boolean> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
};

const untilRefusing = (url: string) =>
  eventually(async () => expect(await accepts(url)).toBe(false), { interval: 5 });

/** Stops the timers of a server in this process, so that only a test ends what the server waits for. */
const holdTimers = () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
};

test("on a signal, the server finishes requests, refuses new connections and ignores further signals", async () => {
  const data = join(folder, "in_flight");
  const { server, answer, recover, close } = await startSlowWrite(data);
  let answered = false;
  const noted = answer.finally(() => {
    answered = true;
  });

  // A closed terminal.
  signal(server, "SIGHUP");
  await untilRefusing(server.url);
  await eventually(() => expect(server.output()).toContain("Server stops"));
  for (const again of ["SIGINT", "SIGTERM", "SIGHUP"] as const) signal(server, again);
  expect(answered).toBe(false);

  await recover();
  expect(await noted).toMatchObject({
    status: 200,
    headers: { connection: "close" },
    body: { data: { chatId: "100001", gameId: "1" } },
  });
  const lastAnswer = performance.now();
  expect(await server.stop()).toBe(0);
  // The client keeps its idle connection for a minute, but the server does not wait for the client to close it.
  expect(performance.now() - lastAnswer).toBeLessThan(9_000);
  close();

  const next = await startServerHere({ fixture: fixtures.fixture, dataFolder: data });
  const { body } = await next.send("GET /v2/chat?chatId=100001", { key });
  expect(body.data).toMatchObject({ gameId: "1" });
  expect(await next.stop()).toBe(0);
});

test("shutdown serves requests during the drain delay, while /readyz answers 503", async () => {
  const delay = 3_600_000;
  const server = await startServerHere({
    fixture: fixtures.fixture,
    env: { ACCOUNTLINK_DRAIN_DELAY: `${delay} millis` },
  });
  const { send, close } = makeClient(server.url);
  expect((await send("GET /readyz")).status).toBe(200);
  const kept = await openConnection(server.url);

  holdTimers();
  const ended = server.stop();
  await eventually(async () =>
    expect(await send("GET /readyz")).toMatchObject({
      status: 503,
      body: { status: "unavailable", failing: ["stopping"] },
    }),
  );
  expect(await accepts(server.url)).toBe(true);
  expect(await kept.ask("GET /healthz")).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/);
  const write = await send("PATCH /v2/game", { key, body: { chatId: "100002", gameId: "1" } });
  expect(write).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });

  close();
  vi.advanceTimersByTime(delay);
  await untilRefusing(server.url);
  expect(await kept.ask("GET /readyz")).toMatch(/^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n/);
  await kept.closed;
  expect(await ended).toBe(0);
});

test("shutdown ends long polls and streams at once, and answers one more request on each idle connection", async () => {
  const server = await startServerHere({ fixture: fixtures.fixture });
  const { send, close } = makeClient(server.url);
  const newSid = async () =>
    textOf((await server.send("POST /v2/sessions", { key, body: { clientId: "c" } })).body.data?.sid);
  const poll = send(`GET /v2/sessions/${await newSid()}?wait=25`, { key });
  const stream = send(`GET /api/v1/verify/session/${await newSid()}/stream`, { key });
  const [used, unused] = [await openConnection(server.url), await openConnection(server.url)];
  await used.ask("GET /healthz");
  await eventually(async () =>
    expect((await server.send("GET /metrics")).text).toContain("accountlink_session_reads_open 2\n"),
  );

  const started = performance.now();
  const ended = server.stop();
  expect((await poll).body).toMatchObject({ status: 200, data: { state: "pending" } });
  expect((await stream).text).toMatch(/\n\nevent: timeout\ndata: \{\}\n\n$/);
  close();
  await untilRefusing(server.url);
  for (const { ask, closed } of [used, unused]) {
    expect(await ask("GET /healthz")).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    await closed;
  }
  expect(await ended).toBe(0);
  expect(performance.now() - started).toBeLessThan(20_000);
});

test("shutdown closes connections that have been idle for ACCOUNTLINK_IDLE_TIMEOUT", async () => {
  const server = await startServerHere({
    fixture: fixtures.fixture,
    env: { ACCOUNTLINK_IDLE_TIMEOUT: "50 millis" },
  });
  const { send, close } = makeClient(server.url);
  await send("GET /healthz");
  // So the server cannot wait the 10 seconds after which it would close every connection.
  holdTimers();
  expect(await server.stop()).toBe(0);
  close();
});

test("shutdown waits at most 10 seconds for clients that never finish a request", async () => {
  const server = await startServerHere({ fixture: fixtures.fixture });
  const head = `PATCH /v2/game HTTP/1.1\r\nHost: accountlink\r\nAuthorization: Bearer ${key}\r\n`;
  const half = `${head}Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{"chatId":`;
  const clients = await Promise.all([head, half].map((sent) => openConnection(server.url, sent)));
  // When the server answers this request, it has already accepted both connections that were opened before.
  await server.send("GET /healthz");

  holdTimers();
  let hasEnded = false;
  const ended = server.stop().finally(() => {
    hasEnded = true;
  });
  await untilRefusing(server.url);
  expect(hasEnded).toBe(false);
  await eventually(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
  vi.advanceTimersByTime(10_000);
  expect(await ended).toBe(0);
  await Promise.all(clients.map(({ closed }) => closed));
});

/** Opens a connection that the client never closes. `ask` sends a request, and `closed` waits for the server. */
const openConnection = async (url: string, sent = "") => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const closed = once(socket, "close");
  const ask = async (line: string): Promise<string> => {
    socket.write(`${line} HTTP/1.1\r\nHost: accountlink\r\n\r\n`);
    return String(await once(socket, "data"));
  };
  if (sent !== "") socket.resume().write(sent);
  return { ask, closed };
};
