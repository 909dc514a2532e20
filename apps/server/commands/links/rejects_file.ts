import { open } from "node:fs/promises";
import { type LeftOutLine, leftOutHeader, leftOutRow } from "@accountlink/core/links";
import { Effect } from "effect";
import { CommandFailed } from "../../cli/report.ts";
import { reasonOf } from "../../message_text.ts";

/** Opens the file of `--rejects`, and returns a function that appends the rows that an import skipped. */
export const openRejects = Effect.fnUntraced(function* (file: string) {
  const failed = (cause: unknown) =>
    new CommandFailed({ problem: `Cannot write "${file}": ${reasonOf(cause)}` });
  const handle = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(file, "w"), catch: failed }),
    (opened) => Effect.promise(() => opened.close()),
  );
  const write = (text: string) =>
    Effect.asVoid(Effect.tryPromise({ try: () => handle.appendFile(text), catch: failed }));
  yield* write(leftOutHeader);
  return (rows: ReadonlyArray<LeftOutLine>) =>
    rows.length === 0 ? Effect.void : write(rows.map(leftOutRow).join(""));
});
