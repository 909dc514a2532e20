import { StorageIdentity } from "@accountlink/core";
import { makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, it } from "@effect/vitest";
import { Effect, Redacted } from "effect";
import { layerPostgres } from "./postgres.ts";
import { generous } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const identityOf = (url: string) =>
  StorageIdentity.pipe(
    Effect.provide(layerPostgres({ url: Redacted.make(url), ...generous }), { local: true }),
  );

describe.skipIf(missing !== null)(`the identity of a database ${missing ?? ""}`, () => {
  it.live("the database identity is the same on every node and differs from other databases", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* makePostgresDatabase(), yield* makePostgresDatabase()];
      const identity = yield* identityOf(one.url);
      expect(identity).toMatch(/^\d+-\d+$/);
      expect(yield* identityOf(one.url)).toBe(identity);
      expect(yield* identityOf(other.url)).not.toBe(identity);
    }),
  );

  it.live("the database identity uses only the database if the server hides its own identifier", () =>
    Effect.gen(function* () {
      const { url, query } = yield* makePostgresDatabase();
      const role = new URL(url).pathname.slice(1);
      yield* Effect.acquireRelease(query(`CREATE ROLE ${role} LOGIN PASSWORD 'own'`), () =>
        query(`DROP OWNED BY ${role}; DROP ROLE ${role}`),
      );
      yield* query(`GRANT ALL ON SCHEMA public TO ${role}`);
      const own = Object.assign(new URL(url), { username: role, password: "own" }).href;
      expect(yield* identityOf(own)).toMatch(/^\d+-\d+$/);
      yield* query("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
      expect(yield* identityOf(own)).toMatch(/^-\d+$/);
    }),
  );
});
