/** The three storage ports over one state. */
import type { AuditLog, KeyStore, LinkStore } from "@accountlink/core";
import { Layer } from "effect";
import * as MemoryAuditLog from "./audit_log.ts";
import { State } from "./internal/state.ts";
import * as MemoryKeyStore from "./key_store.ts";
import * as MemoryLinkStore from "./link_store.ts";

/** Every storage port. Each time the layer is built its store is empty; it forgets everything when it is released. */
export const layer: Layer.Layer<LinkStore | KeyStore | AuditLog> = Layer.mergeAll(
  MemoryLinkStore.layer,
  MemoryKeyStore.layer,
  MemoryAuditLog.layer,
).pipe(Layer.provide(State.layer));
