import { createServer } from "node:http";
import { NodeHttpClient } from "@effect/platform-node";
import { Effect, Stream, Exit, Scope } from "effect";
import { HttpClient } from "effect/http";
const sockets = new Set();
const server = createServer((q, r) => { sockets.add(q.socket); r.end('{"whole":true}') });
await new Promise<void>((r) => server.listen(0, r));
const url = `http://127.0.0.1:${(server.address() as any).port}`;
for (const [n, layer] of [["undici", NodeHttpClient.layerUndici], ["fetch", NodeHttpClient.layerFetch], ["http", NodeHttpClient.layerNodeHttp]] as const) {
  const run = (name: string, read: (c: HttpClient.HttpClient) => Effect.Effect<unknown, any>) => Effect.gen(function* () {
    sockets.clear();
    const c = yield* HttpClient.HttpClient;
    for (let i = 0; i < 10; i++) yield* read(c);
    console.log(n, name, sockets.size);
  }).pipe(Effect.provide(layer), Effect.runPromise);
  await run("text", (c) => Effect.flatMap(c.get(url), (r) => r.text));
  await run("stream", (c) => Effect.flatMap(c.get(url), (r) => Stream.mkUint8Array(r.stream)));
  await run("withScope stream", (c) => Effect.scoped(Effect.flatMap(HttpClient.withScope(c).get(url), (r) => Stream.mkUint8Array(r.stream))));
  await run("withScope stream, later", (c) => Effect.scoped(Effect.flatMap(HttpClient.withScope(c).get(url), (r) => Effect.andThen(Stream.mkUint8Array(r.stream), Effect.yieldNow))));
  await run("withScope stream, 1ms", (c) => Effect.scoped(Effect.flatMap(HttpClient.withScope(c).get(url), (r) => Effect.andThen(Stream.mkUint8Array(r.stream), Effect.sleep(1)))));
}
server.close();
