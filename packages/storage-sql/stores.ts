/** The three storage ports on one database. */
import type { AuditLog, KeyStore, LinkStore } from "@accountlink/core";
import { Layer } from "effect";
import type { SqlClient, SqlConnection } from "effect/sql";
import * as SqlAuditLog from "./audit_log.ts";
import * as SqlKeyStore from "./key_store.ts";
import * as SqlLinkStore from "./link_store.ts";

/** Every storage port on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<
  LinkStore | KeyStore | AuditLog,
  never,
  SqlClient.SqlClient | SqlConnection.Connection
> = Layer.mergeAll(SqlLinkStore.layer, SqlKeyStore.layer, SqlAuditLog.layer);
