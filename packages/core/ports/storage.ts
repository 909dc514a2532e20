/** The ports of a store. They come together, since a write and its audit entry are one step. */
import type { AuditLog } from "./audit_log.ts";
import type { CountLedger } from "./count_ledger.ts";
import type { FlowStore } from "./flow_store.ts";
import type { KeyStore } from "./key_store.ts";
import type { LinkStore } from "./link_store.ts";
import type { RootKeyStore } from "./root_key_store.ts";
import type { SessionStore } from "./session_store.ts";
import type { SightingStore } from "./sighting_store.ts";
import type { UserStore } from "./user_store.ts";

/** Every storage port: what an adapter of a database provides. */
export type StoragePorts =
  | LinkStore
  | KeyStore
  | AuditLog
  | CountLedger
  | SessionStore
  | FlowStore
  | RootKeyStore
  | SightingStore
  | UserStore;
