import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { startProxy } from "./tcp_proxy.ts";

/** A proxy to a server that says back what it is told. */
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

/** What comes back when something is said, or the code of the error that does. */
const say = (socket: Socket, words: string) =>
  Effect.promise(() => {
    socket.write(words);
    return once(socket, "data").then(
      ([chunk]) => String(chunk),
      (error: NodeJS.ErrnoException) => error.code,
    );
  });

describe("startProxy", () => {
  it.live("passes on what is said", () =>
    Effect.gen(function* () {
      const { port } = yield* echoProxy;
      assert.strictEqual(yield* say(yield* open(port), "hello"), "hello");
    }),
  );

  it.live("resets connections when it is cut, until it is restored", () =>
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

  it.live("loses what is said when it is silenced, and never finds it again", () =>
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

  it.live("leads new connections elsewhere when it is told to", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* echoProxy, yield* echoProxy];
      const proxy = yield* startProxy(one.port);
      assert.strictEqual(yield* say(yield* open(proxy.port), "hello"), "hello");
      yield* proxy.leadTo(other.port);
      yield* one.cut;
      assert.strictEqual(yield* say(yield* open(proxy.port), "hello"), "hello");
    }),
  );
});
