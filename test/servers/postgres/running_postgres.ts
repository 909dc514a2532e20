import { setTimeout as pause } from "node:timers/promises";
import { Effect } from "effect";
import { Client } from "pg";
import { type Program, SupervisedProcess } from "../supervised_process.ts";
import type { PostgresCluster } from "./postgres_cluster.ts";

export interface PostgresServer {
  readonly port: number;
  readonly programs: string;
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

export const query = async (
  connectionString: string,
  sql: string,
  values: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<Row>> => {
  const client = new Client({ connectionString, connectionTimeoutMillis: 20_000 });
  // Ignore the `error` event, because a lost connection also makes the query reject.
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
};
