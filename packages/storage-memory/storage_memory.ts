/** The storage ports over one state. */
import type { StoragePorts } from "@accountlink/core";
import { Layer } from "effect";
import * as MemoryAuditLog from "./audit_log.ts";
import * as MemoryCountLedger from "./count_ledger.ts";
import * as MemoryFlowStore from "./flow_store.ts";
import { State } from "./internal/state.ts";
import * as MemoryKeyStore from "./key_store.ts";
import * as MemoryLinkStore from "./link_store.ts";
import * as MemoryRootKeyStore from "./root_key_store.ts";
import * as MemorySessionStore from "./session_store.ts";
import * as MemorySightingStore from "./sighting_store.ts";
import * as MemoryUserStore from "./user_store.ts";

/** Every storage port. Each time the layer is built its store is empty; it forgets everything when it is released. */
export const layer: Layer.Layer<StoragePorts> = Layer.mergeAll(
  MemoryLinkStore.layer,
  MemoryKeyStore.layer,
  MemoryAuditLog.layer,
  MemoryCountLedger.layer,
  MemorySessionStore.layer,
  MemoryFlowStore.layer,
  MemoryRootKeyStore.layer,
  MemorySightingStore.layer,
  MemoryUserStore.layer,
).pipe(Layer.provide(State.layer));
