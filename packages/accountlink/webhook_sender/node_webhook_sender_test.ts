import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type WebhookRequest, WebhookSender, type WebhookUnanswered } from "@accountlink/core/webhooks";
import { listenScoped, makeCertificate, whyNoCertificate } from "@accountlink/test-servers";
import { assert, describe, expect, test } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber } from "effect";
import { IpNetwork } from "effect/net";
import { TestClock } from "effect/testing";
import { layer, type NodeWebhookSenderOptions } from "./node_webhook_sender.ts";

const loopback = [IpNetwork.fromStringUnsafe("127.0.0.0/8")];

/** Starts a server on this machine that counts its connections. */
const receiver = Effect.fnUntraced(function* (listener: RequestListener = (_, response) => response.end()) {
  let connections = 0;
  const asked: Array<string> = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.host}`);
    listener(request, response);
  }).on("connection", () => connections++);
  const port = yield* listenScoped(server);
  return { port, asked, url: `http://127.0.0.1:${port}`, connections: () => connections };
});

const request = (url: string, body = "{}"): WebhookRequest => ({ url, headers: { "x-test": "1" }, body });

const on =
  (options: NodeWebhookSenderOptions) =>
  <A, E, R>(use: (sender: (typeof WebhookSender)["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.provide(Effect.flatMap(WebhookSender, use), layer(options));

const onLoopback = on({ networks: loopback });

const failureOf = (error: Effect.Effect<unknown, WebhookUnanswered>) =>
  Effect.map(Effect.flip(error), ({ error: reason }) => reason);

/** Addresses that are not public, then other notations of addresses: decimal, octal, hexadecimal, shortened and more. */
const hostile = `
  127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 169.254.169.254 172.16.0.1
  172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 localhost LOCALHOST
  2130706433 0177.0.0.1 017700000001 0x7f.0.0.1 0x7f000001 127.1 127.0.0.1. １２７.0.0.1 127%2e0%2e0%2e1
  [::] [::1] [0:0:0:0:0:0:0:1] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1]
  [64:ff9b::127.0.0.1] [64:ff9b::10.0.0.1] [64:ff9b:1::1] [100::1] [2001::1] [2001:db8::1] [2002:7f00:1::]
  [2002:a00:1::] [3fff::1] [5f00::1] [fc00::1] [fd12:3456::1] [fe80::1] [fec0::1] [ff02::1]`;

test.each(hostile.trim().split(/\s+/))("no connection is made to %s, which is not public", function* (host) {
  const { port, connections } = yield* receiver();
  yield* on({})(({ problemOf, send }) =>
    Effect.gen(function* () {
      const url = `https://${host}:${port}/`;
      assert.strictEqual(yield* problemOf(url), "expected an address of the public internet");
      assert.strictEqual(yield* failureOf(send(request(url))), "address");
      assert.strictEqual(yield* problemOf(url.replace("https:", "http:")), "expected an https URL");
      assert.strictEqual(yield* failureOf(send(request(url.replace("https:", "http:")))), "address");
    }),
  );
  assert.strictEqual(connections(), 0);
});

test("the sender refuses a name if one of its addresses is not public", function* () {
  const { port, connections } = yield* receiver();
  const resolve = async () => ["93.184.215.14", "127.0.0.1"];
  const url = `https://links.example:${port}/`;
  yield* on({ resolve })(({ problemOf, send }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* problemOf(url), "expected an address of the public internet");
      assert.strictEqual(yield* failureOf(send(request(url))), "address");
    }),
  );
  assert.strictEqual(connections(), 0);
});

test("the sender refuses a name that changes to a private address after the check", function* () {
  const { port, connections } = yield* receiver();
  const answers = [["93.184.215.14"], ["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]];
  const asked: Array<string> = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return answers.shift() ?? [];
  };
  const url = `https://links.example:${port}/`;
  yield* on({ resolve })(({ problemOf, send }) =>
    Effect.gen(function* () {
      assert.isNull(yield* problemOf(url));
      for (let attempt = 0; attempt < 4; attempt++) {
        assert.strictEqual(yield* failureOf(send(request(url))), "address");
      }
      assert.strictEqual(yield* failureOf(send(request(url))), "name");
    }),
  );
  assert.deepEqual([...new Set(asked)], ["links.example"]);
  assert.strictEqual(connections(), 0);
});

test("the sender follows no redirect to a private address", function* () {
  const target = yield* receiver();
  const { url, asked } = yield* receiver((_, response) =>
    response.writeHead(307, { location: `${target.url}/inside` }).end(),
  );
  const { status } = yield* onLoopback(({ send }) => send(request(`${url}/out`)));
  assert.strictEqual(status, 307);
  assert.lengthOf(asked, 1);
  assert.strictEqual(target.connections(), 0);
});

test("the sender ignores the proxy that environment variables name", function* () {
  const proxy = yield* receiver();
  const { url } = yield* receiver();
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
  for (const name of names) process.env[name] = name.endsWith("ENV_PROXY") ? "1" : proxy.url;
  yield* onLoopback(({ send }) => send(request(url))).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        for (const name of names) delete process.env[name];
      }),
    ),
  );
  assert.strictEqual(proxy.connections(), 0);
});

test("the sender reaches allowed private networks, also by http, but no other private network", function* () {
  const { url, asked, port } = yield* receiver();
  yield* onLoopback(({ problemOf, send }) =>
    Effect.gen(function* () {
      assert.isNull(yield* problemOf(url));
      const answer = yield* send(request(`${url}/links?a=1#b`));
      assert.deepEqual(answer, { status: 200, type: null, retryAfter: null });
      assert.strictEqual(yield* failureOf(send(request("https://10.0.0.1"))), "address");
      assert.strictEqual(yield* problemOf("http://example.invalid"), "expected an https URL");
      assert.strictEqual(yield* failureOf(send(request("http://93.184.215.14"))), "address");
      assert.isNull(yield* problemOf("https://93.184.215.14"));
      assert.isNull(yield* problemOf("https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]"));
      assert.isNull(yield* problemOf("https://[64:ff9b::93.184.215.14]"));
    }),
  );
  assert.deepEqual(asked, [`POST /links?a=1 127.0.0.1:${port}`]);
});

test("if a name has several addresses, the sender connects to the first address that responds", function* () {
  const { port, asked } = yield* receiver();
  const resolve = async () => ["127.0.0.2", "127.0.0.1"];
  const { status } = yield* on({ networks: loopback, resolve })(({ send }) =>
    send(request(`http://links.test:${port}/`)),
  );
  assert.strictEqual(status, 200);
  assert.deepEqual(asked, [`POST / links.test:${port}`]);
});

test.each<[status: number, header: string | undefined, retryAfter: number | null]>([
  [204, "9", null],
  [500, "9", null],
  [429, "9", 9_000],
  [503, "0", 0],
  [503, "36000000000", 36_000_000_000_000],
  [503, "Thu, 01 Jan 1970 00:01:00 GMT", 60_000],
  [503, "soon", null],
  [429, undefined, null],
])("a response with status %i and Retry-After %s asks to wait %s", function* ([status, header, retryAfter]) {
  const { url } = yield* receiver((_, response) =>
    response.writeHead(status, header === undefined ? {} : { "retry-after": header }).end(),
  );
  const answer = yield* onLoopback(({ send }) => send(request(url)));
  assert.deepEqual(answer, { status, type: null, retryAfter });
});

test("the sender stops reading an endless response body at a size limit", function* () {
  const closed = yield* Deferred.make<number>();
  const { url } = yield* receiver((_, response) => {
    let written = 0;
    const write = (): void => {
      while (!response.destroyed && response.write("x".repeat(16_384))) written += 16_384;
    };
    response.on("drain", write).on("close", () => Deferred.doneUnsafe(closed, Effect.succeed(written)));
    response.writeHead(200);
    write();
  });
  const { status } = yield* onLoopback(({ send }) =>
    Effect.tap(send(request(url)), () => Deferred.await(closed)),
  );
  assert.strictEqual(status, 200);
  // The receiver can write more bytes than the sender reads, because the operating system buffers them.
  assert.isBelow(yield* Deferred.await(closed), 16_000_000);
});

test("an attempt fails if no response begins within ten seconds", function* () {
  const arrived = yield* Deferred.make<void>();
  const closed = yield* Deferred.make<void>();
  const { url } = yield* receiver((_, response) => {
    response.on("close", () => Deferred.doneUnsafe(closed, Effect.void));
    Deferred.doneUnsafe(arrived, Effect.void);
  });
  const error = yield* onLoopback(({ send }) =>
    Effect.gen(function* () {
      const sending = yield* Effect.forkChild(failureOf(send(request(url))));
      yield* Deferred.await(arrived);
      yield* TestClock.adjust("10 seconds");
      const failed = yield* Fiber.join(sending);
      yield* Deferred.await(closed);
      return failed;
    }),
  );
  assert.strictEqual(error, "timeout");
});

test("the sender ends the connection after five 1xx responses", function* () {
  const written = yield* Deferred.make<number>();
  const { url } = yield* receiver((_, { socket }) => {
    let count = 0;
    const write = (): void => {
      count++;
      // A closed socket answers with an error. Writing on would keep this process busy to its end.
      socket?.write("HTTP/1.1 103 Early Hints\r\n\r\n", (error) => error ?? setImmediate(write));
    };
    socket?.on("close", () => Deferred.doneUnsafe(written, Effect.succeed(count)));
    write();
  });
  const few = yield* receiver((_, response) => {
    for (let count = 0; count < 4; count++) response.writeProcessing();
    response.end();
  });
  yield* onLoopback(({ send }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failureOf(send(request(url))), "connection");
      // The receiver writes some more responses before it notices the closed connection.
      assert.isBelow(yield* Deferred.await(written), 1_000);
      assert.strictEqual((yield* send(request(few.url))).status, 200);
    }),
  );
});

test.each([
  "101 Switching Protocols",
  "101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket",
  "099 Odd",
  "600 Odd",
  "999 Odd",
])("an attempt fails if the response has the status %j", function* (head) {
  const closed = yield* Deferred.make<void>();
  const { url } = yield* receiver((_, { socket }) => {
    socket?.on("close", () => Deferred.doneUnsafe(closed, Effect.void));
    socket?.write(`HTTP/1.1 ${head}\r\n\r\n`);
  });
  yield* onLoopback(({ send }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failureOf(send(request(url))), "connection");
      yield* Deferred.await(closed);
    }),
  );
});

test("an attempt fails if the response breaks off or never arrives", function* () {
  const { url, port } = yield* receiver((_, response) => response.socket?.destroy());
  yield* onLoopback(({ send }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failureOf(send(request(url))), "connection");
      assert.strictEqual(yield* failureOf(send(request(`http://127.0.0.2:${port}`))), "connection");
      assert.strictEqual(yield* failureOf(send(request("https://links.invalid"))), "name");
    }),
  );
});

test("the sender reuses connections, and reconnects if the receiver closed one", function* () {
  const { url, asked, connections } = yield* receiver();
  yield* onLoopback(({ send }) =>
    Effect.gen(function* () {
      for (let count = 0; count < 5; count++) yield* send(request(url));
    }),
  );
  assert.lengthOf(asked, 5);
  assert.isAtMost(connections(), 2);

  const closing = yield* receiver((incoming, response) => {
    response.end(() => setImmediate(() => incoming.socket.destroy()));
  });
  yield* onLoopback(({ send }) =>
    Effect.gen(function* () {
      for (let count = 0; count < 20; count++) yield* send(request(closing.url));
    }),
  );
  assert.lengthOf(closing.asked, 20);
});

const missing = await whyNoCertificate();

describe.skipIf(missing !== null)(`over TLS ${missing ?? ""}`, () => {
  test("the sender requires a valid certificate", function* () {
    const { certificate, key, authority } = yield* makeCertificate;
    const bodies: Array<string> = [];
    const server = createSecureServer(
      { cert: readFileSync(certificate), key: readFileSync(key) },
      (incoming, response) => {
        incoming.on("data", (chunk: Buffer) => bodies.push(chunk.toString()));
        incoming.on("end", () => response.writeHead(202).end());
      },
    );
    const port = yield* listenScoped(server);
    const url = `https://127.0.0.1:${port}/`;
    const { status } = yield* on({ networks: loopback, authorities: authority })(({ send }) =>
      send(request(url, '{"ä":1}')),
    );
    assert.strictEqual(status, 202);
    assert.deepEqual(bodies, ['{"ä":1}']);
    const resolve = async () => ["127.0.0.1"];
    yield* onLoopback(({ send }) =>
      Effect.map(failureOf(send(request(url))), (error) => expect(error).toBe("certificate")),
    );
    yield* on({ networks: loopback, authorities: authority, resolve })(({ send }) =>
      Effect.map(failureOf(send(request(`https://links.test:${port}/`))), (error) =>
        expect(error).toBe("certificate"),
      ),
    );
  });
});
