import { StorageSql } from "@accountlink/sql";
import { Effect, Option, Predicate } from "effect";
import { Command, Flag } from "effect/cli";
import { switchFlag } from "../../cli/flags.ts";
import { Invocation } from "../../cli/invocation.ts";
import { AlreadyReported, problemOf } from "../../cli/report.ts";
import { flagOf, readConfig, variables } from "../../config/config.ts";
import { configWarnings } from "../../config/config_warnings.ts";
import { resolveConfig, type Storage } from "../../config/resolved_config.ts";
import { allowNew } from "../../secrets/deployment_secret.ts";
import { loggingLayer } from "../../telemetry/logging.ts";
import { describe } from "../command.ts";

const flags = Object.fromEntries(
  Object.entries(variables).map(([name, { description, expected }]) => [
    name,
    Flag.String(flagOf(name)).pipe(Flag.withDescription(`${description}: ${expected}`), Flag.optional),
  ]),
);

/**
 * Whether an error is an outage of the database. An outage is logged; any other failure is printed for the operator.
 */
const isOutageOf =
  ({ kind }: Storage) =>
  (error: unknown): boolean =>
    Predicate.isTagged(error, "StoreUnavailable") ||
    (kind === "redis" && Predicate.isTagged(error, "RedisUnusable")) ||
    (kind === "postgres" &&
      error instanceof StorageSql.DatabaseUnusable &&
      Predicate.hasProperty(error.cause, "isRetryable") &&
      error.cause.isRetryable === true);

const settings = {
  flags,
  isNew: switchFlag("new", "Begin anew in a data folder whose database is missing or empty"),
};

export const serveCommand = Command.make("serve", settings, ({ flags: given, isNew }) =>
  Effect.gen(function* () {
    const overrides = Object.entries(given).flatMap(([name, value]) =>
      Option.isSome(value) ? [[name, value.value] as const] : [],
    );
    const environment = { ...(yield* Invocation).environment, ...Object.fromEntries(overrides) };
    const config = yield* readConfig(environment);
    const resolved = yield* resolveConfig(config);
    if (isNew && resolved.storage.kind === "embedded") yield* allowNew(config, resolved.storage.folder);
    // If a signal stops the server, the process exits with 0.
    process.exitCode = 0;
    // Imported only here, so that other commands start faster, without loading the server's modules.
    const { runServer } = yield* Effect.promise(() => import("./server.ts"));
    return yield* Effect.gen(function* () {
      yield* Effect.forEach(configWarnings(environment, config), ({ problem }) => Effect.logWarning(problem));
      return yield* Effect.catchIf(runServer(resolved), isOutageOf(resolved.storage), (error) =>
        Effect.andThen(Effect.logError(problemOf(error)), new AlreadyReported()),
      );
    }).pipe(Effect.provide(loggingLayer(config)));
  }),
).pipe(describe("Run the server. Every variable of the environment is also a flag"));
