import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Logger, References } from "effect";
import type { SqlClient } from "effect/sql";
import { TestClock } from "effect/testing";
import { storeOperation } from "../../statements/store_operation.ts";
import { add, names, settle, withDatabase } from "../test_database.ts";
import { failWith } from "./sql_error.ts";

/** Simulates a full disk: writes of the client fail if they need another page. */
const fillDisk = (sql: SqlClient.SqlClient) =>
  Effect.flatMap(sql`PRAGMA page_count`.values, ([row]) =>
    sql.unsafe(`PRAGMA max_page_count = ${Number(row?.[0])}`),
  );

const freeDisk = (sql: SqlClient.SqlClient) => sql`PRAGMA max_page_count = 1000`;

const large = "x".repeat(10_000);

/** Runs a test with an array to which all logged messages are added. */
const withLog = <A, E, R>(body: (log: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const log: Array<string> = [];
  const logger = Logger.make(({ logLevel, message, fiber }) => {
    const problem = fiber.getRef(References.CurrentLogAnnotations)["problem"];
    log.push([logLevel, message, problem].flat().filter(Boolean).join(": "));
  });
  return Effect.provide(body(log), Logger.layer([logger]));
};

const problem = "Cannot write: the disk of the database is full";

test("a full disk is logged once, and again if the disk had space in between", () =>
  withLog((log) =>
    withDatabase(function* (database) {
      const { sql } = database;
      const pass = Effect.andThen(settle, TestClock.adjust("5 seconds"));
      yield* fillDisk(sql);
      for (let refused = 0; refused < 3; refused++) {
        for (const write of [add(sql, large), sql.withTransaction(add(sql, large))]) {
          const error = yield* Effect.flip(storeOperation("write")(write));
          expect(error).toMatchObject({ _tag: "StoreUnavailable", isLogged: true });
        }
        yield* pass;
      }
      expect(log).toEqual([`Error: ${problem}`]);
      // This row still fits on the last page, so the write succeeds although the disk is full.
      yield* add(sql, "a");
      yield* Effect.flip(add(sql, large));
      yield* pass;
      yield* freeDisk(sql);
      yield* pass;
      expect(log).toHaveLength(1);
      yield* add(sql, large);
      yield* pass;
      expect(log.slice(1)).toEqual([`Info: This works again: ${problem}`]);
      expect(names(database)).toEqual(["a", large]);

      yield* fillDisk(sql);
      yield* Effect.flip(add(sql, `another ${large}`));
      yield* settle;
      expect(log.slice(2)).toEqual([`Error: ${problem}`]);
    }),
  ));

test("other failures are not reported as a full disk", () =>
  withLog((log) =>
    withDatabase(function* ({ sql }) {
      const refused = yield* Effect.flip(storeOperation("write")(sql`INSERT INTO nowhere VALUES (1)`));
      expect(refused).toMatchObject({ isLogged: false });
      yield* settle;
      expect(log).toEqual([]);
    }),
  ));

test("a full disk is recognized when SQLite reports an I/O error for the `-shm` file", function* () {
  const thrown = Object.assign(new Error("disk I/O error"), { errcode: 4_874 });
  const { reason } = yield* Effect.flip(failWith(thrown));
  expect(reason).toMatchObject({
    message: "Cannot write: the database or its disk is full",
    cause: { message: "database or disk is full" },
  });
});
