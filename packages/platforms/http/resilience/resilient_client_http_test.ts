import { createServer, type RequestListener } from "node:http";
import { listenScoped } from "@accountlink/test-servers";
import { describe, expect, testLiveWith } from "@accountlink/test-servers/effect";
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient";
import { Deferred, Duration, Effect } from "effect";
import { HttpClient } from "effect/http";
import { resilientClient } from "./resilient_client.ts";

/** The responses of a platform whose connections break or stall. The path of a request chooses the response. */
const misbehave: Record<string, RequestListener> = {
  "/whole": (_, response) => response.end('{"whole":true}'),
  "/empty": (_, response) => response.writeHead(204).end(),
  "/cut": (_, response) => response.socket?.destroy(),
  "/broken": (_, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write('{"half":', () => response.socket?.destroy());
  },
  "/stalled": (_, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write('{"half":');
  },
  "/endless": (_, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write("x".repeat(16_384)));
    };
    response.on("drain", write);
    write();
  },
};

const platform = Effect.gen(function* () {
  const asked: Array<string> = [];
  const sockets = new Set<unknown>();
  const closed = yield* Deferred.make<void>();
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    sockets.add(request.socket);
    response.on("close", () => Deferred.doneUnsafe(closed, Effect.void));
    misbehave[path]?.(request, response);
  });
  const port = yield* listenScoped(server);
  const url = `http://127.0.0.1:${port}`;
  return { asked, sockets, closed: Deferred.await(closed), url, stop: Effect.sync(() => server.close()) };
});

const settings = { backoff: Duration.millis(1) };

const clients = [
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", NodeHttpClient.layerFetch],
  ["node:http", NodeHttpClient.layerNodeHttp],
] as const;

describe.each(clients)("over real HTTP with %s", (_, layer) => {
  const test = testLiveWith(layer);
  const setUp = Effect.gen(function* () {
    const server = yield* platform;
    const client = yield* resilientClient(yield* HttpClient.HttpClient, "test", settings);
    const failure = (path: string) => Effect.flip(client.get(server.url + path));
    return { ...server, client, failure };
  });

  test("the client returns complete responses, including empty ones", function* () {
    const { client, url } = yield* setUp;
    const whole = yield* client.get(`${url}/whole`);
    expect([whole.status, yield* whole.json]).toEqual([200, { whole: true }]);
    const empty = yield* client.get(`${url}/empty`);
    expect([empty.status, yield* empty.text]).toEqual([204, ""]);
  });

  test.each(["/cut", "/broken"])("the client retries when the connection ends as at %s", function* (path) {
    const { failure, asked } = yield* setUp;
    expect(yield* failure(path)).toMatchObject({ reason: "connection" });
    expect(asked).toHaveLength(3);
  });

  test("a body that stalls times out, and its connection is closed", function* () {
    const { url, closed } = yield* setUp;
    const hasty = { attemptTimeout: Duration.millis(500), retries: 0 };
    const client = yield* resilientClient(yield* HttpClient.HttpClient, "test", hasty);
    expect(yield* Effect.flip(client.get(`${url}/stalled`))).toMatchObject({ reason: "timeout" });
    yield* closed;
  });

  test("the client reads a body up to its limit, and does not retry a larger one", function* () {
    const { failure, asked, closed } = yield* setUp;
    expect(yield* failure("/endless")).toMatchObject({ reason: "too_large", status: 200 });
    expect(asked).toHaveLength(1);
    yield* closed;
  });

  test("a refused connection fails with the code `ECONNREFUSED`", function* () {
    const { failure, stop } = yield* setUp;
    yield* stop;
    expect(yield* failure("/whole")).toMatchObject({ reason: "connection", code: "ECONNREFUSED" });
  });
});

testLiveWith(NodeHttpClient.layerFetch)("the client reuses connections", function* () {
  const { url, sockets } = yield* platform;
  const client = yield* resilientClient(yield* HttpClient.HttpClient, "test");
  for (let asked = 0; asked < 10; asked++) yield* client.get(`${url}/whole`);
  // A response may arrive a moment before its connection is free again, so the client may open another connection.
  expect(sockets.size).toBeLessThan(5);
});
