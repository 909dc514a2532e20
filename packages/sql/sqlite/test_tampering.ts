/** For tests: embedded stores with one scope, and a connection that tampers with the database file. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type DataScope, Pid, type StoragePorts } from "@accountlink/core";
import type { WriteOrigin } from "@accountlink/core/audit";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, type Scope } from "effect";
import { layerEmbedded } from "./embedded.ts";
import { makeTempFolder } from "./test_folder.ts";

export const scope: DataScope = { kind: "global", pid: Pid.make("pid_0123456789abcdef"), account: "acme" };

export const origin: WriteOrigin = { actor: { type: "operator", id: "test" }, requestId: null };

/**
 * Runs a test on embedded stores. The test gets `tamper`, which executes SQL on their database file, and `look`, which
 * queries this file.
 */
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

/** SQL that makes all writes of this kind to a table fail. */
export const refuseWritesTo = (table: string, kind: "INSERT" | "UPDATE" = "INSERT"): string =>
  `CREATE TRIGGER refusal BEFORE ${kind} ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`;
