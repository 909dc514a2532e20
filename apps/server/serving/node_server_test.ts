import { connect } from "node:net";
import { listenLocally } from "@accountlink/test-servers";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { readConfig } from "../config/config.ts";
import { makeNodeServer } from "./node_server.ts";

it("the server closes the connection of a request that is never answered", async () => {
  const config = await Effect.runPromise(readConfig({ ACCOUNTLINK_LONG_POLL_MAX: "1 millis" }));
  const server = makeNodeServer(config, 50);
  const socket = connect(await listenLocally(server), "127.0.0.1");
  socket.write("GET /readyz HTTP/1.1\r\nHost: service.example\r\n\r\n");
  // The server resets the connection if it closes it before the request has arrived.
  socket.on("error", () => {});
  await new Promise((closed) => socket.once("close", closed));
  expect(socket.bytesRead).toBe(0);
  server.close();
});
