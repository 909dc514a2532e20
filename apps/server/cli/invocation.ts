import { Context } from "effect";

/** What a shell gives a run of the command line. */
interface GivenByShell {
  /** Without the program's own name. */
  readonly words: ReadonlyArray<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** That of this process, unless a test provides another. */
export const Invocation = Context.Reference<GivenByShell>("@accountlink/server/Invocation", {
  defaultValue: () => ({ words: process.argv.slice(2), environment: process.env }),
});
