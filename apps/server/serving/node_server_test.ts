import { once } from "node:events";
import { connect } from "node:net";
import { HttpResponse } from "@accountlink/http";
import { listenLocally, runUntil } from "@accountlink/test-servers";
import { Deferred, Effect } from "effect";
import { expect, it, onTestFinished, vi } from "vitest";
import { readConfig } from "../config/config.ts";
import { answerRequests, makeNodeServer } from "./node_server.ts";

it("the server closes the connection of a request that is never answered", async () => {
  const config = await Effect.runPromise(readConfig({ ACCOUNTLINK_LONG_POLL_MAX: "1 millis" }));
  const server = makeNodeServer(config, 50);
  const socket = connect(await listenLocally(server), "127.0.0.1");
  socket.write("GET /readyz HTTP/1.1\r\nHost: service.example\r\n\r\n");
  await once(socket, "close");
  expect(socket.bytesRead).toBe(0);
  server.close();
});

it("a connection has at most 16 requests in flight, and is read on as they are answered", async () => {
  const server = makeNodeServer(await Effect.runPromise(readConfig({})));
  const pending: Array<Deferred.Deferred<HttpResponse>> = [];
  const answer = () =>
    Effect.suspend(() => {
      const response = Deferred.makeUnsafe<HttpResponse>();
      pending.push(response);
      return Deferred.await(response);
    });
  await runUntil(onTestFinished)(answerRequests(server, { answer, refuse: answer }, []));
  const socket = connect(await listenLocally(server), "127.0.0.1");
  const request = "GET /v2/chat HTTP/1.1\r\nHost: service.example\r\n\r\n";
  const count = 5_000;
  socket.write(request.repeat(count));
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  const answered = () => text.split("HTTP/1.1 200").length - 1;

  await vi.waitUntil(() => pending.length > 0);
  expect(pending.length).toBe(16);
  let most = 0;
  for (let done = 0; done < count; done++) {
    await vi.waitUntil(() => pending.length > done);
    most = Math.max(most, pending.length - done);
    Deferred.doneUnsafe(
      pending[done] as (typeof pending)[0],
      Effect.succeed(new HttpResponse(200, {}, null)),
    );
  }
  await vi.waitUntil(() => answered() === count);
  expect(most).toBe(16);
  socket.destroy();
  server.close();
});
