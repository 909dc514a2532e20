import type { StorageRows } from "@accountlink/core";
import { makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect, Redacted } from "effect";
import { expect } from "vitest";
import { openPostgres } from "../postgres/mod.ts";
import { openRows } from "./rows.ts";

const missing = await whyNoPostgresDatabase();

testLive.skipIf(missing !== null)(
  `nobody writes to a Postgres while its data is moved ${missing ?? ""}`,
  function* () {
    const { url } = yield* makePostgresDatabase();
    const sql = yield* openPostgres({ url: Redacted.make(url), statementTimeout: "300 millis" });
    const write = sql`INSERT INTO suspended_owners (hash) VALUES ('one')`;
    yield* Effect.scoped(
      Effect.gen(function* () {
        const rows = yield* openRows(sql, "source");
        expect((yield* Effect.exit(write))._tag).toBe("Failure");
        expect(yield* rows.count("suspended_owners")).toBe(0);
      }),
    );
    yield* Effect.eventually(write);
  },
);

testLive.skipIf(missing !== null)(`of two moves into a Postgres, one goes on ${missing ?? ""}`, function* () {
  const { url } = yield* makePostgresDatabase();
  const sql = yield* openPostgres({ url: Redacted.make(url) });
  const [one, other] = [yield* openRows(sql, "target"), yield* openRows(sql, "target")];
  yield* one.begin("root");
  yield* other.begin("root");
  const insert = (rows: StorageRows, hash: string) => rows.insert("suspended_owners", [{ hash }], () => hash);
  yield* insert(one, "one");
  expect(yield* Effect.flip(insert(other, "one"))).toMatchObject({
    reason: "another move into the target runs or has ended",
  });
  yield* insert(one, "two");
  expect(yield* one.count("suspended_owners")).toBe(2);
});
