import { StorageFault, type StoragePorts } from "@accountlink/core";
import { recordStores } from "@accountlink/core/storage";
import { Effect, Layer, Schedule, type Scope } from "effect";
import { Database } from "./database.ts";
import type { Kv } from "./kv.ts";
import * as KvRecords from "./record_store.ts";
import { schemaFault } from "./schema.ts";
import * as KvAuditLog from "./stores/audit_log.ts";
import * as KvBlockStore from "./stores/block_store.ts";
import { carryOver } from "./stores/carry_over.ts";
import * as KvEventStore from "./stores/event_store.ts";
import { completeFlow } from "./stores/flow_completion.ts";
import * as KvIdempotencyStore from "./stores/idempotency_store.ts";
import * as KvImportStore from "./stores/import_store.ts";
import * as KvLinkStore from "./stores/link_store.ts";
import { KvDatabase } from "./stores/store_layer.ts";
import * as KvUserStore from "./stores/user_store.ts";

const stores = Layer.mergeAll(
  KvLinkStore.layer,
  KvImportStore.layer,
  KvAuditLog.layer,
  KvUserStore.layer,
  Layer.provideMerge(
    recordStores,
    KvRecords.layer({ SessionStore: (db) => ({ complete: completeFlow(db) }) }),
  ),
  KvIdempotencyStore.layer,
  KvEventStore.layer,
  KvBlockStore.layer,
  Layer.effect(
    StorageFault,
    Effect.map(KvDatabase, ({ kv }) => schemaFault(kv)),
  ),
);

/** All storage ports on an engine. */
export const layer = <E, R>(
  engine: Effect.Effect<Kv, E, R>,
): Layer.Layer<StoragePorts, E, Exclude<R, Scope.Scope>> =>
  Layer.provide(
    stores,
    Layer.effect(
      KvDatabase,
      Effect.flatMap(engine, (kv) => {
        const db = new Database(kv);
        // Nobody reads a feed before its events are in their places.
        const carried = Effect.retry(carryOver(db), Schedule.spaced("1 second"));
        return Effect.as(Effect.orDie(carried), db);
      }),
    ),
  );
