/**
 * The server: from a plan to a listening socket, and back.
 */
import { createServer, type Server, ServerResponse } from "node:http";
import { KeyStore } from "@accountlink/core";
import { HttpSettings, makeHttpApp, Readiness } from "@accountlink/http";
import { NodeHttpServer } from "@effect/platform-node";
import { Console, Effect, Layer } from "effect";
import { HttpServer } from "effect/http";
import { demoIntroduction } from "./demo.ts";
import { listenRefused } from "./internal/listen_refused.ts";
import { prepareFolder } from "./internal/prepare_folder.ts";
import { serviceLayer } from "./layers.ts";
import type { Plan } from "./plan.ts";
import { resolveSecret } from "./secret.ts";
import { loadStartupFixture, readStartupFixture } from "./startup_fixture.ts";

/** How long requests in flight may go on after the server was told to stop. */
const drainTimeout = 10_000;

/** Serves until it is interrupted; then it finishes what is in flight. */
export const serve = Effect.fn("serve")(function* (plan: Plan) {
  const { config, demo, storage } = plan;
  // A start that is refused leaves nothing behind: what can be refused comes before what makes something.
  const fixture = yield* readStartupFixture(plan);
  if (storage.kind === "embedded") yield* prepareFolder(config, storage.folder);
  const secret = yield* resolveSecret(plan);
  return yield* Effect.gen(function* () {
    yield* loadStartupFixture(fixture);
    const url = yield* listen(plan);
    yield* Console.log(`listening on ${url}`);
    if (demo) yield* Console.log(demoIntroduction(url, fixture.text));
    return yield* Effect.never;
  }).pipe(Effect.scoped, Effect.provide(serviceLayer(plan, secret, fixture.platform)));
});

const listen = Effect.fnUntraced(function* ({ config }: Plan) {
  const address = { host: config.ACCOUNTLINK_HOST, port: config.ACCOUNTLINK_PORT };
  const node = createServer({ ServerResponse: WholeResponse, optimizeEmptyRequests: true });
  const server = yield* NodeHttpServer.make(() => node, {
    ...address,
    gracefulShutdownTimeout: drainTimeout,
  }).pipe(Effect.mapError(({ cause }) => listenRefused("ACCOUNTLINK_PORT", address, cause)));
  const url = HttpServer.formatAddress(server.address);
  const app = yield* makeHttpApp.pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(HttpSettings, {
          publicUrl: config.ACCOUNTLINK_PUBLIC_URL ?? url,
          trustedProxies: config.ACCOUNTLINK_TRUSTED_PROXIES,
        }),
        readiness,
      ),
    ),
  );
  yield* server.serve(app);
  yield* Effect.addFinalizer(() => Effect.sync(() => letConnectionsGo(node)));
  return url;
});

/** A connection is done with its answer, and none outlasts the time to drain. Runs before the server stops listening. */
const letConnectionsGo = (node: Server): void => {
  node.keepAliveTimeout = 1;
  node.keepAliveTimeoutBuffer = 0;
  setTimeout(() => node.closeAllConnections(), drainTimeout).unref();
};

/**
 * A response whose head and body leave in one write. Node makes two of them when it is asked to check the declared
 * length of the body, which Effect's server always asks; it also sets that length, from the very body that it writes.
 */
class WholeResponse extends ServerResponse {}
Object.defineProperty(WholeResponse.prototype, "strictContentLength", { get: () => false, set: () => {} });

/** Ready means that the stores answer within a second. */
const readiness = Layer.effect(
  Readiness,
  Effect.map(KeyStore, (keys) =>
    Readiness.of({
      failing: keys.findAccount("").pipe(
        Effect.timeout("1 second"),
        Effect.as([]),
        Effect.catch(() => Effect.succeed(["storage"])),
      ),
    }),
  ),
);
