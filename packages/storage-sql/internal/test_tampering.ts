/** For tests: embedded stores with one scope, beside a hand that does to their file what no store would. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type DataScope, KeyStore, Pid, type StoragePorts, type WriteOrigin } from "@accountlink/core";
import { Effect, type Scope } from "effect";
import { layerEmbedded } from "../embedded.ts";
import { makeTempFolder } from "./temp_folder.ts";

export const scope: DataScope = { kind: "global", pid: Pid.make("pid_0123456789abcdef"), account: "acme" };

export const origin: WriteOrigin = { actor: { type: "operator", id: "test" }, requestId: null };

/** Runs a test; `tamper` executes SQL on the file, `look` gives the rows that a query finds in it. */
export const withTampering = (
  body: (
    tamper: (sql: string) => void,
    look: (query: string) => ReadonlyArray<Record<string, unknown>>,
  ) => Effect.Effect<void, unknown, StoragePorts | Scope.Scope>,
) =>
  Effect.gen(function* () {
    const folder = yield* makeTempFolder;
    yield* Effect.gen(function* () {
      const keys = yield* KeyStore;
      yield* keys.ensureAccount({ name: scope.account, chatId: null, tier: "free" });
      yield* keys.ensureScope(scope.account, { kind: "global" }, scope.pid);
      const db = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(join(folder, "accountlink.db"))),
        (opened) => Effect.sync(() => opened.close()),
      );
      yield* body(
        (sql) => db.exec(sql),
        (query) =>
          db
            .prepare(query)
            .all()
            .map((row) => ({ ...row })),
      );
    }).pipe(Effect.provide(layerEmbedded({ folder })));
  });

/** Makes every write of that kind to the table fail from now on. */
export const refuseWritesTo = (table: string, kind: "INSERT" | "UPDATE" = "INSERT"): string =>
  `CREATE TRIGGER refusal BEFORE ${kind} ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`;
