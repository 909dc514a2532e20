/** There is no protocol to upgrade to: a request with `Upgrade`, and CONNECT, are requests like any other. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { connectTo, eventually, openSockets, readAnswers, sendRaw } from "../support/raw_http.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const fixtures = makeFixtures();
const key = fixtures.key({ links: { 100001: "1" }, limits: "none" });
let server: ServerProcess;

beforeAll(async () => {
  server = await startServer({ fixture: fixtures.fixture, env: { ACCOUNTLINK_REQUEST_TIMEOUT: "1 second" } });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
const lookup = `GET /v2/chat?chatId=100001 HTTP/1.1\r\n${head}`;
const upgrade = (protocol: string) => `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`;

test.each(["websocket", "h2c", "nonsense"])(
  "a request with Upgrade: %s is answered as one without",
  async (protocol) => {
    const answers = await sendRaw(server.url, `${lookup}${upgrade(protocol)}\r\n`);
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(JSON.parse(answers[0]?.text ?? "")).toMatchObject({ data: { gameId: "1" } });
  },
);

test("the body of a request with Upgrade is read, in chunks too", async () => {
  const body = `{"chatIds":["100001"]}`;
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const request = `POST /v2/chat/bulk HTTP/1.1\r\n${head}Content-Type: application/json\r\n${upgrade("h2c")}`;
  const answers = await sendRaw(server.url, request + chunked);
  expect(answers.map(({ status, text }) => [status, text.includes('"gameId":"1"')])).toEqual([[200, true]]);
});

test("a body that does not arrive has its deadline beside an Upgrade", async () => {
  const request = `POST /v2/chat/bulk HTTP/1.1\r\n${head}Content-Length: 10\r\n${upgrade("websocket")}\r\n{`;
  expect((await sendRaw(server.url, request)).map(({ status }) => status)).toEqual([408]);
});

test("CONNECT is a method that no path has", async () => {
  const answers = await sendRaw(server.url, `CONNECT other.example:443 HTTP/1.1\r\n${head}\r\n`);
  expect(answers.map(({ status }) => status)).toEqual([404]);
  expect(JSON.parse(answers[0]?.text ?? "")).toMatchObject({ error: { code: "BAD_REQUEST" } });
});

test.each([
  ["websocket", `${lookup}${upgrade("websocket")}\r\n`],
  ["h2c", `${lookup}${upgrade("h2c")}\r\n`],
  ["CONNECT", `CONNECT other.example:443 HTTP/1.1\r\n${head}\r\n`],
])("sockets on which a request is pipelined before %s are freed", async (_, second) => {
  const before = await openSockets(server.pid);
  for (let round = 0; round < 20; round++) {
    const socket = await connectTo(server.url);
    socket.write(`${lookup}\r\n${second}`);
    const answers = await readAnswers(socket);
    expect(answers).toHaveLength(2);
    expect(answers[0]?.status).toBe(200);
  }
  expect(await eventually(async () => (await openSockets(server.pid)) <= before)).toBe(true);
});

test("a long poll behind another one ends when its client goes away", async () => {
  const create = () => server.send("POST /v2/sessions", { key, body: { clientId: "pipelining" } });
  const sids = [await create(), await create()].map(({ body }) => textOf(body.data?.sid));
  const socket = await connectTo(server.url);
  for (const sid of sids) socket.write(`GET /v2/sessions/${sid}?wait=25 HTTP/1.1\r\n${head}\r\n`);
  const reads = async () => {
    const { text } = await server.send("GET /metrics");
    return Number(/^accountlink_session_reads_open(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
  };
  expect(await eventually(async () => (await reads()) === 2)).toBe(true);
  socket.destroy();
  expect(await eventually(async () => (await reads()) === 0)).toBe(true);
});
