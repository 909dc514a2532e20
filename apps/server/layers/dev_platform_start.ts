import { createServer } from "node:http";
import { type DevPlatformOptions, devPlatform } from "@accountlink/dev-platforms";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Context, Effect, Layer, Scope } from "effect";
import { HttpServer } from "effect/http";
import { NetAddress } from "effect/net";
import { claimPort } from "../listening/port.ts";

/** Starts a dev platform on the loopback address, until the scope closes. Returns its URL. */
export const startDevPlatform = Effect.fnUntraced(function* (port: number, options: DevPlatformOptions) {
  const { url, layer, open } = yield* makeHttpServer(port);
  yield* Layer.build(devPlatform(options).pipe(Layer.provide(layer)));
  yield* open;
  return url;
});

/** How a server starts its dev platform. A test starts it in a process of its own. */
export const DevPlatformStart = Context.Reference<typeof startDevPlatform>(
  "@accountlink/server/DevPlatformStart",
  { defaultValue: () => startDevPlatform },
);

/** The returned `open` opens the port, and must run after the request handler is attached. */
const makeHttpServer = Effect.fnUntraced(function* (port: number) {
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
