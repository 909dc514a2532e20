/** The HTTP server of the dev platform, on the loopback address. */
import { createServer } from "node:http";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Effect, Layer, Scope } from "effect";
import { HttpServer } from "effect/http";
import { NetAddress } from "effect/net";
import { claimPort } from "./port.ts";

/**
 * Makes the HTTP server of the dev platform. The returned `open` opens its port, and must run after the request handler
 * is attached.
 */
export const makeDevHttpServer = Effect.fnUntraced(function* (port: number) {
  const { url, open } = yield* claimPort("ACCOUNTLINK_DEV_PLATFORM_PORT", { host: "127.0.0.1", port });
  // On a busy machine, a shorter timeout closes connections that a client is about to reuse.
  const node = createServer({ keepAliveTimeout: 60_000 });
  yield* Effect.addFinalizer(() => Effect.sync(() => node.close().closeAllConnections()));
  const { hostname, port: claimed } = new URL(url);
  const address = yield* Effect.orDie(
    Effect.fromResult(NetAddress.inetAddressFromIpString(hostname, Number(claimed))),
  );
  const server = HttpServer.make({
    address,
    serve: Effect.fnUntraced(function* (app, middleware) {
      const scope = yield* Scope.Scope;
      node.on("request", yield* NodeHttpServer.makeHandler(app, { scope, middleware }));
    }),
  });
  return { url, layer: Layer.succeed(HttpServer.HttpServer, server), open: open(node) };
});
