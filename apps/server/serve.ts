/**
 * The server: from a plan to a listening socket, and back.
 */
import { readFile } from "node:fs/promises";
import { createServer, type Server, ServerResponse } from "node:http";
import { decodeFixture, FixtureLoader, KeyStore, type PlatformFixture } from "@accountlink/core";
import { HttpSettings, makeHttpApp, Readiness } from "@accountlink/http";
import { NodeHttpServer } from "@effect/platform-node";
import { Console, Effect, Layer } from "effect";
import { HttpServer } from "effect/http";
import { InvalidConfig } from "./config.ts";
import { demoFixture, demoIntroduction } from "./demo.ts";
import { serviceLayer } from "./layers.ts";
import type { Plan } from "./plan.ts";
import { resolveSecret } from "./secret.ts";

/** How long requests in flight may go on after the server was told to stop. */
const drainTimeout = 10_000;

const emptyPlatform: PlatformFixture = { guilds: [], chatUsers: [], gameUsers: [] };

/** Serves until it is interrupted; then it finishes what is in flight. */
export const serve = Effect.fn("serve")(function* (plan: Plan) {
  const secret = yield* resolveSecret(plan);
  const fixture = yield* fixtureText(plan);
  const platform = fixture === null ? emptyPlatform : (yield* decodeFixture(fixture)).platform;
  return yield* Effect.gen(function* () {
    if (fixture !== null) yield* (yield* FixtureLoader).load(fixture);
    const url = yield* listen(plan);
    yield* Console.log(`listening on ${url}`);
    if (plan.demo && fixture !== null) yield* Console.log(demoIntroduction(url, fixture));
    return yield* Effect.never;
  }).pipe(Effect.scoped, Effect.provide(serviceLayer(plan, secret, platform)));
});

const fixtureText = Effect.fnUntraced(function* ({ config, demo, storage }: Plan) {
  if (demo && storage.kind === "embedded") return yield* demoFixture(storage.folder);
  const file = config.ACCOUNTLINK_FIXTURE;
  if (file === null) return null;
  return yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: () =>
      new InvalidConfig({ problem: `ACCOUNTLINK_FIXTURE is "${file}", expected a file that can be read` }),
  });
});

const listen = Effect.fnUntraced(function* ({ config }: Plan) {
  const host = config.ACCOUNTLINK_HOST ?? "127.0.0.1";
  const node = createServer({ ServerResponse: WholeResponse, optimizeEmptyRequests: true });
  const server = yield* NodeHttpServer.make(() => node, {
    host,
    port: config.ACCOUNTLINK_PORT,
    gracefulShutdownTimeout: drainTimeout,
  }).pipe(
    Effect.mapError(
      ({ cause }) => new InvalidConfig({ problem: listenProblem(host, config.ACCOUNTLINK_PORT, cause) }),
    ),
  );
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

const listenProblem = (host: string, port: number, cause: unknown): string =>
  (cause as NodeJS.ErrnoException).code === "EADDRINUSE"
    ? `ACCOUNTLINK_PORT is "${port}", which is in use on "${host}", expected a free port`
    : `ACCOUNTLINK_HOST is "${host}", expected an address of this machine (${(cause as Error).message})`;

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
