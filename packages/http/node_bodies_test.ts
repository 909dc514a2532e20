import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { listenLocally, runUntil } from "@accountlink/test-servers";
import { Effect } from "effect";
import { expect, it, onTestFinished, vi } from "vitest";
import { HttpResponse } from "./http_app.ts";
import { makeNodeListener } from "./node/node_listener.ts";

it("a body of chunks of one byte takes little more memory than its bytes", async () => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  const answer = Effect.succeed(new HttpResponse(200, {}, null));
  const listener = await runUntil(onTestFinished)(
    makeNodeListener({
      answer: (request) => Effect.andThen(Effect.orDie(request.readBody(1_000_000)), answer),
      refuse: () => answer,
    }),
  );
  const server = createServer(listener);
  const accepted: Array<Socket> = [];
  server.on("connection", (socket) => accepted.push(socket));
  const client = connect(await listenLocally(server), "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const bytesRead = (count: number) =>
    vi.waitUntil(() => accepted[0]?.bytesRead === count, { timeout: 60_000 });
  const measure = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const size = 200_000;
  const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const chunks = "1\r\nx\r\n".repeat(size);
  client.write(head);
  await bytesRead(head.length);
  const before = measure();
  client.write(chunks);
  await bytesRead(head.length + chunks.length);
  expect(measure() - before).toBeLessThan(10 * size);
  client.write("0\r\n\r\n");
  const [data] = await once(client, "data");
  expect(String(data)).toMatch(/^HTTP\/1.1 200/);
});
