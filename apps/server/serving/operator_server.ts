/**
 * The operator port, with metrics and health checks.
 */
import { createServer } from "node:http";
import { makeOperatorApp } from "@accountlink/http";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Effect } from "effect";
import { HttpServer } from "effect/http";
import type { Config } from "../config/config.ts";
import { listenError } from "./listen_error.ts";

/** Listens on the operator port, if one is configured, until the scope closes. */
export const listenForOperators = Effect.fnUntraced(function* (config: Config) {
  const { ACCOUNTLINK_HOST: host, ACCOUNTLINK_OPERATOR_PORT: port } = config;
  if (port === null) return;
  const server = yield* NodeHttpServer.make(() => createServer(), {
    host,
    port,
    gracefulShutdownTimeout: "1 second",
  }).pipe(Effect.mapError(({ cause }) => listenError("ACCOUNTLINK_OPERATOR_PORT", { host, port }, cause)));
  yield* server.serve(yield* makeOperatorApp);
  const url = new URL(HttpServer.formatAddress(server.address));
  yield* Effect.annotateLogs(Effect.logInfo("Operators are served"), { port: Number(url.port) });
});
