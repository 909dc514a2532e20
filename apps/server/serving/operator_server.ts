import { createServer } from "node:http";
import { makeNodeListener, makeOperatorApp } from "@accountlink/http";
import { Effect } from "effect";
import type { Config } from "../config/config.ts";
import { claimPort } from "../listening/port.ts";

/** Serves metrics and health checks on the operator port, if one is configured, until the scope closes. */
export const listenForOperators = Effect.fnUntraced(function* (config: Config) {
  const { ACCOUNTLINK_HOST: host, ACCOUNTLINK_OPERATOR_PORT: port } = config;
  if (port === null) return;
  const listener = yield* makeNodeListener(yield* makeOperatorApp);
  const server = createServer(listener);
  const { url, open } = yield* claimPort("ACCOUNTLINK_OPERATOR_PORT", { host, port });
  yield* Effect.acquireRelease(open(server), () => Effect.sync(() => server.close().closeAllConnections()));
  yield* Effect.annotateLogs(Effect.logInfo("Operators are served"), { port: Number(new URL(url).port) });
});
