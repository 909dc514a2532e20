/** Deadlines end idle and slow connections, but not long polls and streams. */
import { once } from "node:events";
import { printedBy } from "@accountlink/server/test_command_line";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { connectTo, openSockets, readAnswers } from "../support/raw_http.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const fixtures = makeFixtures();
const key = fixtures.key({});
let server: ServerProcess;
let before: number;

beforeAll(async () => {
  const deadlines = ["HEADER", "REQUEST", "WRITE", "IDLE"].map((name) => [
    `ACCOUNTLINK_${name}_TIMEOUT`,
    "500 millis",
  ]);
  server = await startServer({
    fixture: fixtures.fixture,
    env: { ...Object.fromEntries(deadlines), ACCOUNTLINK_STREAM_MAX: "3 seconds" },
  });
  before = await openSockets(server.pid);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const head = `Host: service.example\r\nAuthorization: Bearer ${key}\r\n\r\n`;
const expectClosed = () =>
  eventually(async () => expect(await openSockets(server.pid)).toBeLessThanOrEqual(before));

test("a client that stops reading its responses is disconnected", async () => {
  const request = "GET /openapi.json HTTP/1.1\r\nHost: service.example\r\n\r\n";
  const sockets = await Promise.all(Array.from({ length: 3 }, () => connectTo(server.url)));
  // The responses are larger than the socket buffers of both sides, so the server cannot send all of them.
  for (const socket of sockets) socket.write(request.repeat(40));
  await Promise.all(sockets.map((socket) => once(socket, "readable")));
  await expectClosed();
  for (const socket of sockets) socket.destroy();
});

test("an idle connection is closed", async () => {
  const socket = await connectTo(server.url);
  socket.write("GET /healthz HTTP/1.1\r\nHost: service.example\r\n\r\n");
  expect((await readAnswers(socket)).map(({ status }) => status)).toEqual([200]);
});

test("long polls and streams are exempt from deadlines", async () => {
  const create = async () =>
    textOf((await server.send("POST /v2/sessions", { key, body: { clientId: "waits" } })).body.data?.sid);
  const poll = await server.send(`GET /v2/sessions/${await create()}?wait=3`, { key });
  expect([poll.status, poll.body.data?.state]).toEqual([200, "pending"]);
  const stream = await connectTo(server.url);
  stream.write(`GET /v2/sessions/${await create()}/stream HTTP/1.1\r\n${head}`);
  await expect.poll(printedBy(stream)).toContain("event: timeout");
  stream.destroy();
  await expectClosed();
});
