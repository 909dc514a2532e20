import { Context, Effect } from "effect";
import { readConfig } from "../config/config.ts";

interface GivenByShell {
  /** The arguments, without the name of the program. */
  readonly words: ReadonlyArray<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The invocation of this process, unless a test provides another. */
export const Invocation = Context.Reference<GivenByShell>("@accountlink/server/Invocation", {
  defaultValue: () => ({ words: process.argv.slice(2), environment: process.env }),
});

export const givenConfig = Effect.flatMap(Invocation, ({ environment }) => readConfig(environment));
