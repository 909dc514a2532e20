/** Dumps of Postgres, by `pg_dump` and `pg_restore` of the machine. A dump is read whole before it is used. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { reasonOf } from "@accountlink/core/errors";
import { StorageSql } from "@accountlink/sql";
import { expectedOwner } from "@accountlink/sql/postgres";
import { partsOf } from "@accountlink/sql/postgres_url";
import { Data, Effect, Predicate, Redacted } from "effect";
import { Invocation } from "../cli/invocation.ts";

type Program = "pg_dump" | "pg_restore";

/** A program of Postgres cannot run, or failed. */
class ProgramFailed extends Data.TaggedError("ProgramFailed")<{
  readonly program: Program;
  readonly reason: string;
  /** Whether the program is missing, or too old for the server or the dump. */
  readonly isLacking?: boolean;
}> {
  override readonly message = `Cannot run ${this.program}: ${this.reason}`;
}

const expectedPrograms =
  "expected the programs of the server's version or later (on Debian postgresql-client)";

/** The authorities of most Linux distributions, which libpq does not read by itself. */
const systemAuthorities = "/etc/ssl/certs/ca-certificates.crt";

/** Passes the URL as variables, since other users can read arguments. */
const connectionOf = (secretUrl: Redacted.Redacted): Readonly<Record<string, string>> => {
  const parts = partsOf(Redacted.value(secretUrl));
  if (parts === null) return {};
  const parameter = (name: string) => parts.parameters.get(name);
  const mode = parameter("sslmode");
  const isChecked = mode !== null && mode !== "disable" && mode !== "no-verify";
  const authorities = isChecked && existsSync(systemAuthorities) ? systemAuthorities : null;
  const given = {
    PGHOST: parts.host,
    PGPORT: `${parts.port}`,
    PGUSER: parts.user,
    PGPASSWORD: parts.password,
    PGDATABASE: parts.database,
    PGOPTIONS: parameter("options"),
    // As the server does, every mode but these two checks the certificate.
    PGSSLMODE: isChecked ? "verify-full" : mode === "no-verify" ? "require" : mode,
    PGSSLROOTCERT: parameter("sslrootcert") ?? authorities,
    PGSSLCERT: parameter("sslcert"),
    PGSSLKEY: parameter("sslkey"),
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => (entry[1] ?? "") !== ""),
  );
};

const run = Effect.fnUntraced(function* (
  program: Program,
  args: ReadonlyArray<string>,
  connection: Readonly<Record<string, string>>,
  onLine?: (line: string) => void,
) {
  const { environment } = yield* Invocation;
  const PATH = environment["PATH"] ?? process.env["PATH"];
  const failed = (reason: string) => new ProgramFailed({ program, reason });
  const lacking = (problem: string) =>
    new ProgramFailed({ program, reason: `${problem}, ${expectedPrograms}`, isLacking: true });
  const { code, problems } = yield* Effect.tryPromise({
    try: async (signal) => {
      const env = { ...environment, ...connection, PATH, LC_ALL: "C", PGCONNECT_TIMEOUT: "10" };
      const child = spawn(program, args, { env, signal, stdio: ["ignore", "pipe", "pipe"] });
      const lines = createInterface({ input: child.stdout });
      if (onLine !== undefined) lines.on("line", onLine);
      const [printed, [status]] = await Promise.all([
        text(child.stderr),
        once(child, "close") as Promise<[number | null]>,
      ]);
      return { code: status, problems: printed };
    },
    catch: (cause) =>
      Predicate.hasProperty(cause, "code") && cause.code === "ENOENT"
        ? lacking("it is not installed")
        : failed(reasonOf(cause)),
  });
  if (code === 0) return;
  const [first = `it ended with ${code}`] = problems.trim().split("\n");
  const reason = first.replace(`${program}: `, "").replace(/^error: /, "");
  if (/permission denied|must be owner/.test(reason)) return yield* failed(`${reason}, ${expectedOwner}`);
  const isOld = /version mismatch|unsupported version/.test(reason);
  return yield* isOld ? lacking(reason) : failed(reason);
});

export const postgresBackups = (url: Redacted.Redacted) =>
  ({ ending: "dump", copy: (file: string) => dumpPostgres(url, file) }) as const;

const notWritten = (cause: unknown) => new ProgramFailed({ program: "pg_dump", reason: reasonOf(cause) });

/** What a restore kept in schemas of its own is no part of the data. */
const keptAside = "--exclude-schema=accountlink_[0-9]*";

/** Writes a dump to an empty file, syncs it, and returns what it holds, read from the file. */
const dumpPostgres = Effect.fnUntraced(function* (url: Redacted.Redacted, file: string) {
  yield* run("pg_dump", ["--format=custom", "--no-owner", keptAside, `--file=${file}`], connectionOf(url));
  yield* Effect.tryPromise({
    try: async () => {
      const handle = await open(file, "r+");
      await handle.sync();
      await handle.close();
    },
    catch: notWritten,
  });
  return yield* readDump(file);
});

/** Reads a whole dump. Fails unless it is a whole one of this service. */
export const readDump = Effect.fnUntraced(function* (file: string) {
  const refuse = (reason: string) => new StorageSql.CopyRefused({ file, reason });
  yield* StorageSql.refuseUnreadable(file);
  const tables: Record<string, number> = {};
  let at: { readonly name: string; readonly columns: ReadonlyArray<string> } | null = null;
  let version = 0;
  let rootKey: string | null = null;
  yield* run("pg_restore", ["--data-only", "--file=-", file], {}, (line) => {
    if (at === null) {
      const [, name, columns] = /^COPY (?:\S+\.)?"?(\w+)"? \((.*)\) FROM stdin;$/.exec(line) ?? [];
      if (name === undefined || columns === undefined) return;
      at = { name, columns: columns.split(", ") };
      tables[name] = 0;
      return;
    }
    if (line === "\\.") {
      at = null;
      return;
    }
    const { name, columns } = at;
    tables[name] = (tables[name] ?? 0) + 1;
    const value = (column: string) => line.split("\t")[columns.indexOf(column)] ?? "";
    if (name === "schema_migrations") version = Math.max(version, Number(value("migration_id")));
    if (name === "root_key") rootKey = value("wrapped");
  }).pipe(Effect.mapError((error) => (error.isLacking ? error : refuse(error.reason))));
  if (version === 0) return yield* refuse("it has no tables of this service");
  if (rootKey === null) return yield* refuse("it holds no data");
  return { version, rootKey, tables };
});

/** Restores a dump into an empty database, all of it or nothing. */
export const restoreDump = (file: string, url: Redacted.Redacted) => {
  const connection = connectionOf(url);
  const target = `--dbname=${connection["PGDATABASE"] ?? "postgres"}`;
  const args = ["--no-owner", "--exit-on-error", "--single-transaction", target, file];
  return run("pg_restore", args, connection);
};
