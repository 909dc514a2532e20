import type {
  AuditLog,
  CountLedger,
  FlowStore,
  KeyStore,
  LinkStore,
  RootKeyStore,
  SessionStore,
  SightingStore,
  UserStore,
} from "@accountlink/core";

/** The ports of a store. They come together, since a write and its audit entry are one step. */
export type Storage =
  | LinkStore
  | KeyStore
  | AuditLog
  | CountLedger
  | SessionStore
  | FlowStore
  | RootKeyStore
  | SightingStore
  | UserStore;
