/**
 * `accountlink serve`
 */
import { Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { flagOf, readConfig, variables } from "../config.ts";
import { configWarnings } from "../config_warnings.ts";
import { loggingLayer } from "../logging.ts";
import { planOf } from "../plan.ts";

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
    const environment = { ...process.env, ...Object.fromEntries(overrides) };
    const config = yield* readConfig(environment);
    const plan = yield* planOf(config);
    // Being told to stop is how a server ends well.
    process.exitCode = 0;
    // The other commands start faster without the server's modules.
    const { serve } = yield* Effect.promise(() => import("../serve.ts"));
    return yield* Effect.forEach(configWarnings(environment, config), ({ problem }) =>
      Effect.logWarning(problem),
    ).pipe(Effect.andThen(serve(plan)), Effect.provide(loggingLayer(config.ACCOUNTLINK_LOG_LEVEL)));
  }),
).pipe(Command.withDescription("Run the server. Every variable of the environment is also a flag"));
