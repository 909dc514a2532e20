import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { listenLocally, withResolvers } from "@accountlink/test-servers";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { failingOnce, makeWeb } from "./test_web.ts";

const web = makeWeb();
afterAll(web.stop);

const servers: Array<ReturnType<typeof createServer>> = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.close().closeAllConnections();
  }
});

const listen = async (listener: RequestListener) => {
  const server = createServer(listener);
  servers.push(server);
  const port = await listenLocally(server);
  return { port, url: `http://127.0.0.1:${port}` };
};

const write = (key: string, gameId = "1") => ({
  method: "PATCH",
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  body: JSON.stringify({ chatId: "100001", gameId }),
});

const lookup = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

/** Splits a PATCH request inside its body, so that a test can send the rest of the body later. */
const inParts = (key: string) => {
  const { body } = write(key);
  const head = `PATCH /v2/game HTTP/1.1\r\nHost: ours.example\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  return [
    `${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 5)}`,
    body.slice(5),
  ] as const;
};

it("the first request starts the services; a failed start is answered 503, and the next request tries again", async () => {
  const logged = vi.spyOn(console, "log").mockImplementation(() => {});
  const { handler, starts } = failingOnce();
  const { url } = await listen(handler.nodeListener);
  expect(starts()).toBe(0);
  expect((await fetch(`${url}/healthz`)).status).toBe(503);
  expect(JSON.stringify(logged.mock.calls)).toContain("Cannot start the services");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await handler.close();
  expect((await fetch(`${url}/healthz`)).status).toBe(503);
});

it("the client's address is the socket's address, unless the caller passes one", async () => {
  const { nodeListener } = web.handler();
  const key = await web.newKey({ allowIps: ["127.0.0.1"] });
  const statusAt = async (listener: RequestListener) =>
    (await fetch(`${(await listen(listener)).url}/v2/game?gameId=2`, lookup(key))).status;
  expect(await statusAt(nodeListener)).toBe(404);
  expect(await statusAt((...pair) => nodeListener(...pair, { clientAddress: "203.0.113.7" }))).toBe(403);
  expect(await statusAt((...pair) => nodeListener(...pair, () => {}))).toBe(404);
});

it("the Node listener reads the URL as the client sent it, even if a framework removes a prefix", async () => {
  const { nodeListener } = web.handler({ basePath: "/links" });
  const { url } = await listen((request, response) => {
    const originalUrl = request.url;
    request.url = request.url?.replace("/links", "");
    nodeListener(Object.assign(request, { originalUrl }), response);
  });
  const found = await fetch(`${url}/links/v2/game?gameId=2`, lookup(await web.newKey()));
  expect(await found.json()).toMatchObject({ error: { code: "LINK_NOT_FOUND" } });
});

/** Reads the body of a request, as a body parser does. If `keep` is true, it keeps the bytes as `rawBody`. */
const parsed = async (request: IncomingMessage, keep: boolean) => {
  const bytes = Buffer.from(await text(request));
  return keep ? Object.assign(request, { rawBody: bytes }) : request;
};

const listenAfterParser = (keep: boolean) => {
  const { nodeListener } = web.handler();
  return listen((request, response) => {
    void parsed(request, keep).then((read) => nodeListener(read, response));
  });
};

it("if a body parser ran first, the answer is 500, and the log says to put the listener before body parsers", async () => {
  const logged = vi.spyOn(console, "log").mockImplementation(() => {});
  const { url } = await listenAfterParser(false);
  expect((await fetch(`${url}/v2/game`, write(await web.newKey()))).status).toBe(500);
  expect(JSON.stringify(logged.mock.calls)).toContain("expected the listener before body parsers");
});

it("the Node listener reads a rawBody up to the maximum size", async () => {
  const { url } = await listenAfterParser(true);
  const key = await web.newKey();
  expect((await fetch(`${url}/v2/game`, write(key, "2"))).status).toBe(200);
  // A stream is sent without `content-length`, so the listener can check only the size of `rawBody`.
  const body = new Blob([JSON.stringify({ chatId: "1".repeat(70_000) })]).stream();
  const answer = await fetch(`${url}/v2/game`, { ...write(key), body, duplex: "half" } as RequestInit);
  expect(await answer.json()).toMatchObject({ error: { code: "INVALID_BODY" } });
});

it("open event streams end when the web handler closes", async () => {
  const handler = web.handler();
  const { url } = await listen(handler.nodeListener);
  const key = await web.newKey();
  const headers = { ...lookup(key).headers, "content-type": "application/json" };
  const body = JSON.stringify({ clientId: "7" });
  const created = await fetch(`${url}/v2/sessions`, { method: "POST", headers, body });
  const { data } = (await created.json()) as { readonly data: { readonly sid: string } };
  const stream = await fetch(`${url}/v2/sessions/${data.sid}/stream`, lookup(key));
  await handler.close();
  expect(await stream.text()).toContain("event: timeout");
});

/** Sends the first part of a write, and waits until it has arrived and the services have started. */
const beginWrite = async () => {
  const handler = web.handler();
  const arrived = withResolvers<void>();
  const { port, url } = await listen((...pair) => {
    handler.nodeListener(...pair);
    arrived.resolve();
  });
  const [first, rest] = inParts(await web.newKey());
  const socket = connect(port, "127.0.0.1");
  socket.write(first);
  await arrived.promise;
  const status = async () => (await fetch(`${url}/healthz`)).status;
  expect(await status()).toBe(200);
  return { handler, socket, rest, status };
};

it("the listener waits for a request in flight before it closes", async () => {
  const { handler, socket, rest, status } = await beginWrite();
  let isClosed = false;
  const closing = handler.close().finally(() => {
    isClosed = true;
  });
  expect(await status()).toBe(503);
  expect(isClosed).toBe(false);
  socket.write(rest);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /);
  await closing;
});

it("the listener closes without waiting for a disconnected client", async () => {
  const { handler, socket } = await beginWrite();
  socket.destroy();
  const began = performance.now();
  await handler.close();
  // If the request still counted as open, `close` would wait 10 seconds for it.
  expect(performance.now() - began).toBeLessThan(9_000);
});
