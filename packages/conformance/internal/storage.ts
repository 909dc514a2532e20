import type { AuditLog, KeyStore, LinkStore } from "@accountlink/core";

/** The three ports of a store. They come together, since a write and its audit entry are one step. */
export type Storage = LinkStore | KeyStore | AuditLog;
