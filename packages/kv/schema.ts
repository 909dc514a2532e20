/** The version of the layout of the data in an engine, so that an earlier release refuses data of a later one. */
import { StorageTooNew, type StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import { Database } from "./database.ts";
import type { Kv } from "./kv.ts";
import { table } from "./table.ts";

/** Rises with each change of the records or their keys that an earlier release cannot read. @internal */
export const newestSchema = 12;

const schemas = table<{ readonly version: number }>()("schema", () => [], {});

/** The version of the data; 0 for an empty engine, and for data from before versions. @internal */
export const readSchema = (kv: Kv): Effect.Effect<number, StoreUnavailable> =>
  new Database(kv).read((tx) => Effect.map(tx.get(schemas), (found) => found?.version ?? 0));

/** Gives the data the schema of this release. Fails, and changes nothing, if a later release used the data. @internal */
export const claimSchema = (kv: Kv): Effect.Effect<void, StorageTooNew | StoreUnavailable> =>
  Effect.gen(function* () {
    const version = yield* new Database(kv).write("schema", function* (tx) {
      const found = (yield* tx.get(schemas))?.version ?? 0;
      if (found < newestSchema) yield* tx.put(schemas, { version: newestSchema });
      return found;
    });
    if (version > newestSchema) return yield* new StorageTooNew({ version, known: newestSchema });
  });

/** Why this release must not use the data any longer; null if it may. */
export const schemaFault = (kv: Kv): Effect.Effect<string | null, StoreUnavailable> =>
  Effect.map(readSchema(kv), (version) =>
    version > newestSchema ? new StorageTooNew({ version, known: newestSchema }).reason : null,
  );
