import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { type LinkSource, type ReadOptions, tableReader } from "@accountlink/core/links";
import { Clock, Effect, Option, Stream } from "effect";
import { CommandFailed } from "../../cli/report.ts";
import { reasonOf } from "../../message_text.ts";

const chunkSize = 1_000;

/** Reads links from the chosen table of an SQLite file, or from its only table with links. */
export const sqliteSource = Effect.fnUntraced(function* (
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
  const now = yield* Clock.currentTimeMillis;
  const { name, names, reader } = yield* Effect.mapError(choose(tables, chosen, { ...options, now }), failed);
  const refusal = reader.refusal();
  if (refusal !== null) return yield* refusal;

  const rows = function* () {
    const statement = database.prepare(`SELECT * FROM ${identifier(name)}`);
    // Preserves the digits of IDs beyond 2^53.
    statement.setReadBigInts(true);
    let line = 0;
    for (const row of statement.iterate()) {
      const values = names.map((column) => row[column]);
      yield reader.read({ line: ++line, values, text: textOf(values) });
    }
  };

  const lines = Stream.fromIterable({ [Symbol.iterator]: rows }, { chunkSize }).pipe(
    Stream.catchCause((cause) => Stream.fail(failed(reasonOf(cause)))),
  );
  return { lines, isRepeatable: true } satisfies LinkSource<CommandFailed>;
});

interface Table {
  readonly name: string;
  readonly names: ReadonlyArray<string>;
}

const tablesOf = (database: DatabaseSync): ReadonlyArray<Table> =>
  database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
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

const choose = (
  tables: ReadonlyArray<Table>,
  chosen: Option.Option<string>,
  options: Parameters<typeof tableReader>[1],
) => {
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
