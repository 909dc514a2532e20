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
  const batch = { suspended_owners: [{ hash: "one" }] };
  yield* one.insert(batch, "first");
  expect(yield* Effect.flip(other.insert(batch, "first"))).toMatchObject({
    reason: "another move into the target runs or has ended",
  });
  yield* one.insert({ suspended_owners: [{ hash: "two" }] }, "second");
  expect(yield* one.count("suspended_owners")).toBe(2);
});
