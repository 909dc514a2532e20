/** Opens what `accountlink links import` reads: a file, standard input, or a table of an SQLite file. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { reasonOf } from "@accountlink/core/errors";
import {
  type ImportProgress,
  type LinkReaderName,
  type LinkSource,
  linkReaders,
  type ReadOptions,
  readRows,
  tableReader,
  type UnreadableLinkFile,
} from "@accountlink/core/imports";
import * as NodeStream from "@effect/platform-node/NodeStream";
import { Effect, FileSystem, Option, Stdio, Stream } from "effect";
import type { Progress } from "../../cli/progress.ts";
import { CommandFailed } from "../../cli/report.ts";

/** How many bytes of a file are read at once. */
const readSize = 262_144;

interface SourceChoice {
  readonly file: string;
  readonly format: LinkReaderName | "sqlite";
  readonly table: Option.Option<string>;
}

/** Opens a source, and tells how much of it has been read. */
export const openSource = Effect.fnUntraced(function* (
  { file, format, table }: SourceChoice,
  options: ReadOptions,
) {
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
  // A pipe can be read only once.
  const lines = linkReaders[format](bytes, { ...options, isRepeatable: isFile });
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

const chunkSize = 1_000;

/** Reads links from the chosen table of an SQLite file, or from its only table with links. */
const sqliteSource = Effect.fnUntraced(function* (
  file: string,
  chosen: Option.Option<string>,
  options: ReadOptions,
) {
  const failed = (reason: string) => new CommandFailed({ problem: `Cannot import "${file}": ${reason}` });
  const attempt = <A>(read: () => A) => Effect.try({ try: read, catch: (cause) => failed(reasonOf(cause)) });
  const database = yield* Effect.acquireRelease(
    attempt(() => new DatabaseSync(file, { readOnly: true, allowExtension: false })),
    (opened) => Effect.sync(() => opened.close()),
  );
  const tables = yield* attempt(() => tablesOf(database));
  const { name, names, reader } = yield* Effect.mapError(choose(tables, chosen, options), failed);
  const refusal = reader.refusal();
  if (refusal !== null) return yield* refusal;

  const rows = function* (rowOptions: Parameters<typeof reader.read>[1]) {
    const statement = database.prepare(`SELECT * FROM ${identifier(name)}`);
    // Preserves the digits of IDs beyond 2^53.
    statement.setReadBigInts(true);
    let line = 0;
    for (const row of statement.iterate()) {
      const values = names.map((column) => row[column]);
      yield reader.read({ line: ++line, values, text: textOf(values) }, rowOptions);
    }
  };

  const lines = readRows({ ...options, isRepeatable: true }, (rowOptions) =>
    Stream.fromIterable({ [Symbol.iterator]: () => rows(rowOptions) }, { chunkSize }).pipe(
      Stream.catchCause((cause) => Stream.fail(failed(reasonOf(cause)))),
    ),
  );
  return { lines, isRepeatable: true } satisfies LinkSource<CommandFailed | UnreadableLinkFile>;
});

interface Table {
  readonly name: string;
  readonly names: ReadonlyArray<string>;
}

const tablesOf = (database: DatabaseSync): ReadonlyArray<Table> =>
  database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE " +
        "'\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    )
    .all()
    .map(({ name }) => String(name))
    .map((name) => ({
      name,
      names: database
        .prepare(`PRAGMA table_info(${identifier(name)})`)
        .all()
        .map((column) => String(column["name"])),
    }));

const choose = (tables: ReadonlyArray<Table>, chosen: Option.Option<string>, options: ReadOptions) => {
  const wanted = Option.match(chosen, {
    onNone: () => tables,
    onSome: (name) => tables.filter((table) => table.name.toLowerCase() === name.toLowerCase()),
  });
  const read = wanted.map((table) => ({ ...table, reader: tableReader(table.names, options) }));
  const found = read.flatMap((table) =>
    typeof table.reader === "string" ? [] : [{ ...table, reader: table.reader }],
  );
  const [only, another] = found;
  if (only !== undefined && another === undefined) return Effect.succeed(only);
  if (found.length > 1) {
    return Effect.fail(`several tables have links, expected --table with one of ${listOf(found)}`);
  }
  const [first] = read;
  if (read.length === 1 && typeof first?.reader === "string") {
    return Effect.fail(`table "${first.name}" has other columns: ${first.reader}`);
  }
  if (Option.isSome(chosen)) {
    return Effect.fail(`it has no table "${chosen.value}", expected one of ${listOf(tables)}`);
  }
  return Effect.fail(
    tables.length === 0
      ? "the database has no tables"
      : `none of its tables ${listOf(tables)} has columns of chat IDs and game IDs (--chat-column and --game-column name others)`,
  );
};

const listOf = (tables: ReadonlyArray<Table>): string => tables.map(({ name }) => `"${name}"`).join(", ");

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const textOf = (values: ReadonlyArray<SQLOutputValue | undefined>): string =>
  values.map((value) => (value instanceof Uint8Array ? "" : String(value ?? ""))).join(",");
