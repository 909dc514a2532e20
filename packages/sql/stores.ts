import { StorageFault, type StoragePorts, StoreUnavailable } from "@accountlink/core";
import { recordStores } from "@accountlink/core/storage";
import { Effect, Layer } from "effect";
import { SqlClient, type SqlConnection } from "effect/sql";
import { sightingStatements } from "./alts/sighting_statements.ts";
import * as SqlIdempotencyStore from "./idempotency_store.ts";
import * as SqlImportStore from "./imports/import_store.ts";
import * as SqlAuditLog from "./journal/audit_log.ts";
import * as SqlEventStore from "./journal/event_store.ts";
import { keyLookups } from "./keys/key_lookups.ts";
import * as SqlBlockStore from "./links/block_store.ts";
import * as SqlLinkStore from "./links/link_store.ts";
import { schemaFault } from "./migrations.ts";
import * as SqlRecords from "./records.ts";
import { sessionStatements } from "./sessions/session_statements.ts";
import * as SqlUserStore from "./users/user_store.ts";

const fault = Effect.map(SqlClient.SqlClient, (sql) =>
  schemaFault.pipe(
    Effect.provideService(SqlClient.SqlClient, sql),
    Effect.mapError((cause) => new StoreUnavailable({ operation: "StorageFault", cause })),
  ),
);

/** All storage ports, on a database with a migrated schema. */
export const layer: Layer.Layer<StoragePorts, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.mergeAll(
    SqlLinkStore.layer,
    SqlImportStore.layer,
    SqlAuditLog.layer,
    SqlUserStore.layer,
    Layer.provideMerge(
      recordStores,
      SqlRecords.layer({
        KeyStore: keyLookups,
        SightingStore: sightingStatements,
        SessionStore: sessionStatements,
      }),
    ),
    SqlBlockStore.layer,
    SqlIdempotencyStore.layer,
    SqlEventStore.layer,
    Layer.effect(StorageFault, fault),
  );
