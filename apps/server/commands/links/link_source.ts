/** Opens what `accountlink links import` reads: a file, standard input, or a table of an SQLite file. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import {
  type ImportProgress,
  type LinkReaderName,
  type LinkSource,
  linkReaders,
  type ReadOptions,
  type UnreadableLinkFile,
} from "@accountlink/core/links";
import * as NodeStream from "@effect/platform-node/NodeStream";
import { Effect, FileSystem, type Option, type Scope, Stdio, Stream } from "effect";
import type { Progress } from "../../cli/progress.ts";
import { CommandFailed } from "../../cli/report.ts";
import { reasonOf } from "../../message_text.ts";
import { sqliteSource } from "./sqlite_source.ts";

/** How many bytes of a file are read at once. */
const readSize = 262_144;

export interface SourceChoice {
  readonly file: string;
  readonly format: LinkReaderName | "sqlite";
  readonly table: Option.Option<string>;
}

/** A source and how much of it has been read. */
interface OpenSource {
  readonly source: LinkSource<UnreadableLinkFile | CommandFailed>;
  readonly progressOf: (progress: ImportProgress) => Progress;
}

export const openSource = Effect.fnUntraced(function* (
  { file, format, table }: SourceChoice,
  options: ReadOptions,
): Effect.fn.Return<
  OpenSource,
  CommandFailed | UnreadableLinkFile,
  FileSystem.FileSystem | Scope.Scope | Stdio.Stdio
> {
  const unreadable = (cause: unknown) =>
    new CommandFailed({ problem: `Cannot read "${file}": ${reasonOf(cause)}` });
  if (file === "-") {
    if (format === "sqlite") return yield* unreadable(new Error("an SQLite file cannot come from a pipe"));
    const bytes = (yield* Stdio.Stdio).stdin.pipe(Stream.mapError(unreadable));
    const lines = linkReaders[format](bytes, options);
    return { source: { lines, isRepeatable: false }, progressOf: progressOf(null) };
  }
  const fileSystem = yield* FileSystem.FileSystem;
  const { type, size } = yield* Effect.mapError(fileSystem.stat(file), unreadable);
  const isFile = type === "File";
  const isDatabase = format === "auto" && isFile && (yield* startsAsDatabase(file, unreadable));
  if (format === "sqlite" || isDatabase) {
    return { source: yield* sqliteSource(file, table, options), progressOf: progressOf(null) };
  }
  const checked = { done: 0, total: Number(size) };
  const bytes = Stream.suspend(() => {
    checked.done = 0;
    return NodeStream.fromReadable({
      evaluate: () => createReadStream(file, { highWaterMark: readSize }),
      onError: unreadable,
    });
  }).pipe(
    Stream.tap((chunk) =>
      Effect.sync(() => {
        checked.done += chunk.length;
      }),
    ),
  );
  const lines = linkReaders[format](bytes, options);
  // A pipe can be read only once.
  return { source: { lines, isRepeatable: isFile }, progressOf: progressOf(checked) };
});

const signature = "SQLite format 3\0";

const startsAsDatabase = (file: string, unreadable: (cause: unknown) => CommandFailed) =>
  Effect.tryPromise({
    try: async () => {
      await using handle = await open(file);
      const { buffer } = await handle.read(Buffer.alloc(signature.length), 0, signature.length, 0);
      return buffer.toString("latin1") === signature;
    },
    catch: unreadable,
  });

/**
 * Converts the progress of an import to the progress to show. While an import checks a file, the progress is in bytes,
 * since the number of rows is not known yet.
 */
const progressOf =
  (checked: { readonly done: number; readonly total: number } | null) =>
  ({ phase, rows, total }: ImportProgress): Progress =>
    phase === "checking" && checked !== null
      ? { doing: phase, ...checked, unit: null }
      : { doing: phase, done: rows, total, unit: "rows" };
