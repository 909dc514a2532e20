import { setTimeout as pause } from "node:timers/promises";
import { PgConnection } from "@effect/sql-pg";
import { Effect, Redacted } from "effect";
import { type Program, SupervisedProcess } from "../supervised_process.ts";
import type { PostgresCluster } from "./postgres_cluster.ts";

export interface PostgresServer {
  readonly port: number;
  readonly programs: string;
  /** The folder of its data. */
  readonly data: string;
  /** The URL of one of its databases: `postgres://postgres:<password>@127.0.0.1:<port>/<database>`. */
  readonly urlOf: (database: string) => string;
  /** Pauses the server and keeps its connections open, like a frozen machine. */
  readonly freeze: Effect.Effect<void>;
  readonly thaw: Effect.Effect<void>;
  readonly kill: Effect.Effect<void>;
  readonly stop: Effect.Effect<void>;
  /** Starts the server again with the same port and data. */
  readonly restart: Effect.Effect<void>;
}

/** Starts a server, and waits until it answers. It is stopped when the scope closes or this process ends. */
export const runPostgres = Effect.fnUntraced(function* ({
  program,
  port,
  programs,
  data,
  password,
}: PostgresCluster) {
  let running: SupervisedProcess | undefined;
  yield* Effect.addFinalizer(() => Effect.promise(async () => running?.remove()));

  const urlOf = (database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  const restart = Effect.promise(async () => {
    running = await startUntilItAnswers(program, urlOf("postgres"));
  });
  yield* restart;

  const server: PostgresServer = {
    port,
    programs,
    data,
    urlOf,
    freeze: Effect.sync(() => running?.freeze()),
    thaw: Effect.sync(() => running?.thaw()),
    kill: Effect.promise(async () => running?.kill()),
    stop: Effect.promise(async () => running?.stop()),
    restart,
  };
  return server;
});

/** Retries, since leftovers of a killed server, such as shared memory, can prevent the start. */
const startUntilItAnswers = async (program: Program, url: string): Promise<SupervisedProcess> => {
  const deadline = performance.now() + 60_000;
  let problem = "";
  while (performance.now() < deadline) {
    const running = await SupervisedProcess.start(program);
    while (performance.now() < deadline && !running.hasEnded()) {
      problem = await query(url, "SELECT 1").then(() => "", String);
      if (problem === "") return running;
      await pause(20);
    }
    problem = `${problem}\n${await running.output()}`;
    await running.stop();
  }
  throw new Error(`Cannot start Postgres: ${problem}`);
};

export type Row = Readonly<Record<string, unknown>>;

/**
 * Runs a statement, or several statements in one transaction, on a new connection. Returns the rows of the last
 * statement.
 */
export const query = (
  url: string,
  sql: string,
  values: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<Row>> =>
  PgConnection.make({ url: Redacted.make(url), connectTimeout: "20 seconds" }).pipe(
    Effect.flatMap((connection) =>
      Effect.forEach(statementsIn(sql), (statement) => connection.query(statement, values, false)),
    ),
    Effect.map((results) =>
      (results.findLast(({ command }) => command !== "COMMIT")?.rows ?? []).map(withTexts),
    ),
    Effect.scoped,
    Effect.runPromise,
  );

const statementsIn = (sql: string): ReadonlyArray<string> => {
  const parts = sql.replaceAll(/--.*/g, "").match(/(?:\$\$[\s\S]*?\$\$|'[^']*'|[^;])+/g) ?? [];
  const statements = parts.filter((part) => part.trim() !== "");
  return statements.length < 2 ? statements : ["BEGIN", ...statements, "COMMIT"];
};

/** Returns integers of 8 bytes as text, as JSON has no type for them. */
const withTexts = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? `${value}` : value]),
  );
