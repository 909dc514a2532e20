import { Effect } from "effect";
import { InvalidOptions } from "./options.ts";

/**
 * Loads a module that needs an optional package, on demand, so that programs without it need not install the package. Fails
 * with `InvalidOptions` if the package is missing.
 */
export const withOptional = <Module>(
  name: string,
  load: () => Promise<Module>,
): Effect.Effect<Module, InvalidOptions> =>
  Effect.catchDefect(Effect.promise(load), (cause) =>
    // Every runtime names the missing package in its message.
    cause instanceof Error && cause.message.includes(name)
      ? Effect.fail(
          new InvalidOptions({
            problems: [`storage needs the package "${name}", which is missing: npm install ${name}`],
          }),
        )
      : Effect.die(cause),
  );
