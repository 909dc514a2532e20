/** Malformed HTTP is answered in the envelope, with a request ID. */
import { expect, test } from "vitest";
import { envelopeProblems } from "../contract/envelope.ts";
import { makeFixtures, newToken } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { connectTo, type RawAnswer, readAnswers, sendRaw } from "../support/raw_http.ts";
import { useServer } from "../support/server.ts";

const fixtures = makeFixtures();
const key = fixtures.key({ links: { 100001: "1" } });
const { url, send } = useServer(() => ({
  fixture: fixtures.fixture,
  env: { ACCOUNTLINK_HEADER_TIMEOUT: "1 second", ACCOUNTLINK_REQUEST_TIMEOUT: "2 seconds" },
}));

const host = "Host: service.example\r\n";
const authorization = `Authorization: Bearer ${key}\r\n`;
const lookup = "/v2/chat?chatId=100001";
const v1Lookup = "/api/v1/public/chat-to-game?chatId=100001";
const post = (headers: string, body: string) =>
  `POST /v2/chat/bulk HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\n${headers}\r\n${body}`;

/**
 * Expects one refusal, in the format of the API that the path belongs to, on a connection that the server then closes.
 */
const expectMalformed = (
  [answer, ...others]: ReadonlyArray<RawAnswer>,
  path: string,
  status: number,
  code = "BAD_REQUEST",
): void => {
  if (answer === undefined) throw new Error("Cannot go on: nothing was answered");
  expect(others).toEqual([]);
  const body = JSON.parse(answer.text) as Record<string, Record<string, unknown>>;
  expect(answer.status).toBe(status);
  expect(envelopeProblems(`GET ${path}`, { ...answer, body: body as never })).toEqual([]);
  expect(answer.headers["connection"]).toBe("close");
  expect(answer.headers["x-request-id"]).toMatch(/^req_/);
  if (path.startsWith("/api/v1")) return;
  expect(body["error"]?.["code"]).toBe(code);
  expect(body["meta"]?.["requestId"]).toBe(answer.headers["x-request-id"]);
};

const large = `X-Large: ${"x".repeat(20_000)}\r\n`;
const extended = `Transfer-Encoding: chunked\r\n`;
const colonless = `GET http://service.example${v1Lookup} HTTP/1.1\r\n${host}nonsense\r\n\r\n`;

test.each([
  ["no HTTP at all", "/", "nonsense\r\n\r\n", 400],
  ["the preface of HTTP/2", "/", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["a header without a colon", lookup, `GET ${lookup} HTTP/1.1\r\n${host}nonsense\r\n\r\n`, 400],
  ["a header without a colon, v1", v1Lookup, `GET ${v1Lookup} HTTP/1.1\r\n${host}nonsense\r\n\r\n`, 400],
  ["a header without a colon, after an absolute target", v1Lookup, colonless, 400],
  ["a length beside chunks", lookup, post(`Content-Length: 5\r\n${extended}`, "0\r\n\r\n"), 400],
  ["two lengths", lookup, post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), 400],
  ["a chunk without a size", lookup, post(extended, "zz\r\n"), 400],
  ["headers that are too large", lookup, `GET ${lookup} HTTP/1.1\r\n${host}${large}\r\n`, 431],
  ["a target that is too large", lookup, `GET ${lookup}${"0".repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 431],
])("malformed HTTP is refused: %s", async (_, path, bytes, status) => {
  expectMalformed(await sendRaw(url(), bytes), path, status);
});

test.each([
  ["FOO", lookup, 405, "GET, PATCH, HEAD, OPTIONS"],
  ["GETX", v1Lookup, 405, "GET, HEAD, OPTIONS"],
  ["get", "/v2/data", 405, "DELETE, OPTIONS"],
  ["M-SEARCH2", "/v2/none", 404, undefined],
  ["FOO", "/v2/chat?x=%", 400, undefined],
])("an unknown method is refused: %s %s", async (method, path, status, allow) => {
  const answers = await sendRaw(url(), `${method} ${path} HTTP/1.1\r\n${host}${authorization}\r\n`);
  expectMalformed(answers, path, status);
  expect(answers[0]?.headers["allow"]).toBe(allow);
});

test.each(["/verify", "/me", "/dashboard/keys"])(
  "a malformed request for the page %s is refused by a page",
  async (path) => {
    const [answer] = await sendRaw(url(), `GET ${path} HTTP/1.1\r\n${host}${large}\r\n`);
    expect(answer?.status).toBe(431);
    expect(answer?.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(answer?.text).toContain("<html");
  },
);

test("too large chunk extensions are refused", async () => {
  const bytes = post(extended, `1;${"x".repeat(20_000)}\r\n{\r\n0\r\n\r\n`);
  expectMalformed(await sendRaw(url(), bytes), lookup, 413, "INVALID_BODY");
});

test("malformed requests are counted in metrics", async () => {
  const { text } = await send("GET /metrics");
  expect(text).toMatch(/^accountlink_http_requests_total\{[^}]*status="431"[^}]*\} \d+$/m);
});

// These tests run concurrently, because each one waits for a deadline.
test.concurrent.each([
  ["nothing", "/", ""],
  ["a head", "/", `GET ${lookup} HTTP/1.1\r\n${host}`],
  ["a body", lookup, post("Content-Length: 50\r\n", "{")],
  ["a chunk", lookup, post("Transfer-Encoding: chunked\r\n", "32\r\n{")],
])("an incomplete request is answered 408: %s", async (_, path, bytes) => {
  expectMalformed(await sendRaw(url(), bytes), path, 408);
});

test.concurrent("an incomplete request for a page is answered 408 by a page", async () => {
  const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 50\r\n";
  const [answer] = await sendRaw(url(), `POST /go HTTP/1.1\r\n${host}${form}\r\ncode=`);
  expect(answer?.status).toBe(408);
  expect(answer?.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(answer?.text).toContain("<html");
});

test.concurrent("a body that arrives byte by byte is answered 408", async () => {
  const socket = await connectTo(url());
  socket.write(post("Content-Length: 50\r\n", ""));
  const dripping = setInterval(() => socket.write(" "), 100);
  expectMalformed(await readAnswers(socket).finally(() => clearInterval(dripping)), lookup, 408);
});

test.concurrent.each(["websocket", "h2c"])("an Upgrade header is ignored: %s", async (protocol) => {
  const upgrade = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
  const answers = await sendRaw(url(), `GET ${lookup} HTTP/1.1\r\n${host}${authorization}${upgrade}\r\n`);
  expect(answers.map(({ status }) => status)).toEqual([200]);
  expectMalformed(await sendRaw(url(), post(`Content-Length: 10\r\n${upgrade}`, "{")), lookup, 408);
});

const get = (target: string, headers: string) =>
  `GET ${target} HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`;
const own = () => new URL(url()).host;
const longCookie = `Cookie: accountlink_language=de-${"x".repeat(15_000)}\r\n`;

test.each([
  ["no Host", () => get(lookup, authorization)],
  ["two Host headers", () => get(lookup, `${host}Host: other.example\r\n${authorization}`)],
  ["the same Host twice", () => get(lookup, `${host}${host}${authorization}`)],
  ["two Authorization headers", () => get(lookup, `${host}${authorization}Authorization: Basic x\r\n`)],
  ["two Authorization headers, turned", () => get(lookup, `${host}Authorization: x\r\n${authorization}`)],
  ["a target on another host", () => get(`http://other.example${lookup}`, `${host}${authorization}`)],
  [
    "the target and Host of another",
    () => get(`http://a.example${lookup}`, `Host: a.example\r\n${authorization}`),
  ],
  ["a target on another port", () => get(`http://127.0.0.1:1${lookup}`, `${host}${authorization}`)],
])("an ambiguous head is refused: %s", async (_, bytes) => {
  expectMalformed(await sendRaw(url(), bytes()), lookup, 400);
});

test.each([
  ["a target on this host", () => get(`http://${own()}${lookup}`, `${host}${authorization}`), 200],
  ["HTTP/1.0 without Host", () => `GET ${lookup} HTTP/1.0\r\n${authorization}\r\n`, 200],
  ["a cookie of 15,000 characters", () => get("/go", `${host}${longCookie}`), 200],
  ["one Authorization with a comma", () => get(lookup, `${host}Authorization: Digest a="b", c="d"\r\n`), 401],
])("an unambiguous head is accepted: %s", async (_, bytes, status) => {
  expect((await sendRaw(url(), bytes())).map((answer) => answer.status)).toEqual([status]);
});

const at = (origin: string, target: string) =>
  sendRaw(
    url(),
    `GET ${origin}${target} HTTP/1.1\r\nConnection: close\r\nHost: ${new URL(url()).host}\r\n${authorization}\r\n`,
  );
const origins: ReadonlyArray<[title: string, origin: () => string]> = [
  ["the local address", url],
  ["its scheme in capitals", () => url().replace("http:", "HTTP:")],
  ["localhost", () => url().replace("127.0.0.1", "localhost")],
];

test.each(origins)("a target in absolute form is answered like its path: %s", async (_, origin) => {
  const paths = [lookup, "/v2/nope", "/healthz", "/metrics", "/docs", "/dashboard", "/verify?sid=vs_1"];
  for (const path of paths) {
    const [[plain], [absolute]] = [await at("", path), await at(origin(), path)];
    const outline = (answer?: RawAnswer) => [
      answer?.status,
      answer?.headers["location"],
      answer?.headers["content-type"],
    ];
    expect([path, ...outline(absolute)]).toEqual([path, ...outline(plain)]);
  }
  const [root] = await at(origin(), "");
  expect(root?.status).toBe((await at("", "/"))[0]?.status);
});

test("CONNECT is answered 404", async () => {
  const answers = await sendRaw(url(), `CONNECT other.example:443 HTTP/1.1\r\n${host}${authorization}\r\n`);
  expect(answers.map(({ status }) => status)).toEqual([404]);
});

test("Expect: 100-continue is answered 100 before the body is read, or 401 for a wrong key", async () => {
  const body = `{"chatIds":["100001"]}`;
  const head = `Connection: close\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n`;
  const statusesOf = async (bytes: string) => (await sendRaw(url(), bytes)).map(({ status }) => status);
  expect(await statusesOf(post(head, body))).toEqual([100, 200]);
  expect(await statusesOf(post(head, body).replace(key, newToken()))).toEqual([401]);
});

test("an Expect header with an unknown value is refused", async () => {
  const bytes = `GET ${lookup} HTTP/1.1\r\n${host}${authorization}Connection: close\r\nExpect: a-pony\r\n\r\n`;
  expectMalformed(await sendRaw(url(), bytes), lookup, 417);
});

test("malformed bytes sent during an unfinished request end the connection without an answer", async () => {
  const { body } = await send("POST /v2/sessions", { key, body: { clientId: "pipelining" } });
  const poll = `GET /v2/sessions/${textOf(body.data?.sid)}?wait=25 HTTP/1.1\r\n${host}${authorization}\r\n`;
  expect(await sendRaw(url(), `${poll}nonsense\r\n\r\n`)).toEqual([]);
});
