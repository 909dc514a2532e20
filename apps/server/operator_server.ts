/**
 * The port for operators.
 */
import { createServer } from "node:http";
import { makeOperatorApp } from "@accountlink/http";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Effect } from "effect";
import { HttpServer } from "effect/http";
import type { Config } from "./config.ts";
import { listenRefused } from "./internal/listen_refused.ts";

/** Listens on the port for operators, if there is one, and logs where. It is open until the scope closes. */
export const listenForOperators = Effect.fnUntraced(function* (config: Config) {
  const { ACCOUNTLINK_HOST: host, ACCOUNTLINK_OPERATOR_PORT: port } = config;
  if (port === null) return;
  const server = yield* NodeHttpServer.make(() => createServer(), {
    host,
    port,
    gracefulShutdownTimeout: "1 second",
  }).pipe(Effect.mapError(({ cause }) => listenRefused("ACCOUNTLINK_OPERATOR_PORT", { host, port }, cause)));
  yield* server.serve(yield* makeOperatorApp);
  const url = new URL(HttpServer.formatAddress(server.address));
  yield* Effect.annotateLogs(Effect.logInfo("Operators are served"), { port: Number(url.port) });
});
