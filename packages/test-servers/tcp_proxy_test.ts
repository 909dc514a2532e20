import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { startProxy } from "./tcp_proxy.ts";

/** A proxy to an echo server. */
const echoProxy = Effect.gen(function* () {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => server.close()),
  );
  return yield* startProxy((server.address() as AddressInfo).port);
});

const open = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => connect(port, "127.0.0.1").setEncoding("utf8")),
    (socket) => Effect.sync(() => socket.destroy()),
  );

/** The echo, or the code of the error. */
const say = (socket: Socket, words: string) =>
  Effect.promise(() => {
    socket.write(words);
    return once(socket, "data").then(
      ([chunk]) => String(chunk),
      (error: NodeJS.ErrnoException) => error.code,
    );
  });

describe("startProxy", () => {
  it.live("forwards data", () =>
    Effect.gen(function* () {
      const { port } = yield* echoProxy;
      assert.strictEqual(yield* say(yield* open(port), "hello"), "hello");
    }),
  );

  it.live("resets connections until it is restored", () =>
    Effect.gen(function* () {
      const proxy = yield* echoProxy;
      const socket = yield* open(proxy.port);
      assert.strictEqual(yield* say(socket, "hello"), "hello");
      const [end] = yield* Effect.all([say(socket, "hello?"), proxy.cut], { concurrency: "unbounded" });
      assert.strictEqual(end, "ECONNRESET");
      assert.strictEqual(yield* say(yield* open(proxy.port), "hello"), "ECONNRESET");
      yield* proxy.restore;
      assert.strictEqual(yield* say(yield* open(proxy.port), "hello"), "hello");
    }),
  );

  it.live("drops data while silent, for good", () =>
    Effect.gen(function* () {
      const proxy = yield* echoProxy;
      const old = yield* open(proxy.port);
      assert.strictEqual(yield* say(old, "hello"), "hello");
      const heard: Array<string> = [];
      old.on("data", (chunk) => heard.push(String(chunk)));
      yield* proxy.silence;
      old.write("lost");
      yield* proxy.restore;
      const other = yield* open(proxy.port);
      assert.strictEqual(yield* say(other, "hello"), "hello");
      old.write("lost");
      assert.strictEqual(yield* say(other, "again"), "again");
      assert.deepStrictEqual(heard, []);
    }),
  );

  it.live("forwards new connections to another port", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* echoProxy, yield* echoProxy];
      const proxy = yield* startProxy(one.port);
      assert.strictEqual(yield* say(yield* open(proxy.port), "hello"), "hello");
      yield* proxy.forwardTo(other.port);
      yield* one.cut;
      assert.strictEqual(yield* say(yield* open(proxy.port), "hello"), "hello");
    }),
  );
});
