/** The version of the layout of the data in an engine, so that an earlier release refuses data of a later one. */
import { StorageRefused, StorageTooNew, type StoreUnavailable, schemaBehind } from "@accountlink/core";
import { Effect } from "effect";
import { Database } from "./database.ts";
import type { Kv } from "./kv.ts";
import { accounts } from "./stores/scopes.ts";
import { table } from "./table.ts";

/** Rises with each change of the records or their keys that an earlier release cannot read. @internal */
export const newestSchema = 9;

/** Data of builds with an earlier schema is not carried over. */
const oldestSchema = 6;

const schemas = table<{ readonly version: number }>()("schema", () => [], {});

/** The version of the data; 0 for an empty engine, and for data from before versions. @internal */
export const readSchema = (kv: Kv): Effect.Effect<number, StoreUnavailable> =>
  new Database(kv).read((tx) => Effect.map(tx.get(schemas), (found) => found?.version ?? 0));

/** Why this release cannot use data of a schema; null if it can. */
export const refusalOfSchema = (version: number): StorageTooNew | StorageRefused | null => {
  if (version > newestSchema) return new StorageTooNew({ version, known: newestSchema });
  return version < oldestSchema
    ? new StorageRefused({ reason: schemaBehind({ version, known: oldestSchema }) })
    : null;
};

/** Gives the data the schema of this release. Fails, and changes nothing, if this release cannot use the data. @internal */
export const claimSchema = (kv: Kv): Effect.Effect<void, StorageTooNew | StorageRefused | StoreUnavailable> =>
  Effect.gen(function* () {
    const db = new Database(kv);
    const isNew = (yield* db.read((tx) => tx.count(accounts, []))) === 0;
    const refusal = yield* db.write("schema", function* (tx) {
      const version = (yield* tx.get(schemas))?.version ?? (isNew ? oldestSchema : 0);
      const refused = refusalOfSchema(version);
      if (refused === null && version < newestSchema) yield* tx.put(schemas, { version: newestSchema });
      return refused;
    });
    if (refusal !== null) return yield* refusal;
  });

/** Why this release must not use the data any longer; null if it may. */
export const schemaFault = (kv: Kv): Effect.Effect<string | null, StoreUnavailable> =>
  Effect.map(readSchema(kv), (version) =>
    version === 0 ? null : (refusalOfSchema(version)?.reason ?? null),
  );
