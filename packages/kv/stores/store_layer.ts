import { Context, Effect, Layer } from "effect";
import type { Database } from "../database.ts";

export class KvDatabase extends Context.Service<KvDatabase, Database>()("@accountlink/kv/KvDatabase") {}

export const storeLayer = <Port, S extends object>(
  port: Context.Key<Port, S>,
  make: (db: Database) => S,
): Layer.Layer<Port, never, KvDatabase> => Layer.effect(port, Effect.map(KvDatabase, make));
