import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber, Schedule } from "effect";
import { whyNoPostgres } from "./postgres.ts";
import { startPostgresWithStandby } from "./postgres_standby.ts";
import { type PostgresServer, query } from "./running_postgres.ts";

const missing = await whyNoPostgres();

const ask = ({ urlOf }: PostgresServer, sql: string) => Effect.promise(() => query(urlOf("postgres"), sql));

/** Waits until a COMMIT waits for the standby. */
const untilCommitWaits = (primary: PostgresServer) =>
  Effect.repeat(ask(primary, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"), {
    until: (rows) => rows.length === 1,
    schedule: Schedule.spaced("20 millis"),
  });

describe.skipIf(missing !== null)(`tests ${missing ?? "on a Postgres with a standby"}`, () => {
  it.live("answers a write after the standby has it, and the promoted standby keeps it", () =>
    Effect.gen(function* () {
      const { primary, standby, replication } = yield* startPostgresWithStandby;
      yield* replication.cut;
      const write = yield* Effect.forkChild(ask(primary, "CREATE TABLE things AS SELECT 1 AS id"));
      yield* untilCommitWaits(primary);
      yield* replication.restore;
      yield* Fiber.join(write);
      yield* primary.kill;
      yield* standby.promote;
      yield* ask(standby, "INSERT INTO things VALUES (2)");
      assert.deepStrictEqual(yield* ask(standby, "SELECT id FROM things ORDER BY id"), [
        { id: 1 },
        { id: 2 },
      ]);
    }).pipe(Effect.scoped),
  );
});
