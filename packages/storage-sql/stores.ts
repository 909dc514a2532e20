/** The storage ports on one database. */
import type { StoragePorts } from "@accountlink/core";
import { Layer } from "effect";
import type { SqlClient, SqlConnection } from "effect/sql";
import * as SqlAuditLog from "./audit_log.ts";
import * as SqlCountLedger from "./count_ledger.ts";
import * as SqlFlowStore from "./flow_store.ts";
import * as SqlKeyStore from "./key_store.ts";
import * as SqlLinkStore from "./link_store.ts";
import * as SqlRootKeyStore from "./root_key_store.ts";
import * as SqlSessionStore from "./session_store.ts";
import * as SqlSightingStore from "./sighting_store.ts";
import * as SqlUserStore from "./user_store.ts";

/** Every storage port on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<StoragePorts, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.mergeAll(
    SqlLinkStore.layer,
    SqlKeyStore.layer,
    SqlAuditLog.layer,
    SqlCountLedger.layer,
    SqlSessionStore.layer,
    SqlFlowStore.layer,
    SqlRootKeyStore.layer,
    SqlSightingStore.layer,
    SqlUserStore.layer,
  );
