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
