/**
 * `accountlink serve`
 */
import { Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { Invocation } from "../cli/invocation.ts";
import { flagOf, readConfig, variables } from "../config/config.ts";
import { configWarnings } from "../config/config_warnings.ts";
import { type ResolvedConfig, resolveConfig } from "../config/resolved_config.ts";
import { loggingLayer } from "../telemetry/logging.ts";
import { CurrentWorker } from "../workers/worker.ts";

const flags = Object.fromEntries(
  Object.entries(variables).map(([name, { description, expected }]) => [
    name,
    Flag.String(flagOf(name)).pipe(Flag.withDescription(`${description}: ${expected}`), Flag.optional),
  ]),
);

export const serveCommand = Command.make("serve", flags, (given) =>
  Effect.gen(function* () {
    const overrides = Object.entries(given).flatMap(([name, value]) =>
      Option.isSome(value) ? [[name, value.value] as const] : [],
    );
    const environment = { ...(yield* Invocation).environment, ...Object.fromEntries(overrides) };
    const config = yield* readConfig(environment);
    const resolved = yield* resolveConfig(config);
    // A server that is stopped by a signal succeeds.
    process.exitCode = 0;
    const worker = yield* CurrentWorker;
    const warnings = worker === null ? configWarnings(environment, config) : [];
    return yield* Effect.gen(function* () {
      yield* Effect.forEach(warnings, ({ problem }) => Effect.logWarning(problem));
      return yield* worker === null && resolved.workers > 1 ? serveByWorkers(resolved) : serve(resolved);
    }).pipe(Effect.provide(loggingLayer(config.ACCOUNTLINK_LOG_LEVEL, worker?.start.id)));
  }),
).pipe(Command.withDescription("Run the server. Every variable of the environment is also a flag"));

// The other commands start faster without the server's modules.
const serve = (resolved: ResolvedConfig) =>
  Effect.flatMap(
    Effect.promise(() => import("../serving/serve.ts")),
    (server) => server.serve(resolved),
  );
const serveByWorkers = (resolved: ResolvedConfig) =>
  Effect.flatMap(
    Effect.promise(() => import("../workers/primary.ts")),
    (primary) => primary.serve(resolved),
  );
