/** For tests: embedded stores with one scope, and a connection that tampers with the database file. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { testWith } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer } from "effect";
import { storeScope } from "../test_scope.ts";
import { layerEmbedded } from "./embedded.ts";
import { makeTempFolder } from "./test_folder.ts";

export { origin, scope } from "../test_scope.ts";

export class Tampering extends Context.Service<
  Tampering,
  {
    readonly tamper: (sql: string) => void;
    /** Queries the database file. */
    readonly look: (query: string) => ReadonlyArray<Record<string, unknown>>;
  }
>()("@accountlink/sql/sqlite/test_tampering/Tampering") {}

/** Waits for the next turn of the event loop. Reads of one turn share a snapshot, so they miss what tampering changed. */
export const endTurn = Effect.promise<void>(() => new Promise((resolve) => setImmediate(resolve)));

const tampering = (folder: string) =>
  Effect.gen(function* () {
    yield* storeScope;
    const db = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(join(folder, "accountlink.db"))),
      (opened) => Effect.sync(() => opened.close()),
    );
    yield* endTurn;
    return {
      tamper: (sql: string) => db.exec(sql),
      look: (query: string) =>
        db
          .prepare(query)
          .all()
          .map((row) => ({ ...row })),
    };
  });

export const layerTampering = Layer.unwrap(
  Effect.map(makeTempFolder, (folder) =>
    Layer.provideMerge(Layer.effect(Tampering, tampering(folder)), layerEmbedded({ folder })),
  ),
);

export const test = testWith(layerTampering);

export const refuseWritesTo = (table: string, kind: "INSERT" | "UPDATE" = "INSERT"): string =>
  `CREATE TRIGGER refusal BEFORE ${kind} ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`;
