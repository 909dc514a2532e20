import type { StoragePorts } from "@accountlink/core";
import { Layer } from "effect";
import * as MemoryAltReviewStore from "./alts/alt_review_store.ts";
import * as MemorySightingStore from "./alts/sighting_store.ts";
import * as MemoryAuditLog from "./audit/audit_log.ts";
import * as MemoryEventStore from "./events/event_store.ts";
import * as MemoryFlowStore from "./flow/flow_store.ts";
import * as MemoryIdempotencyStore from "./idempotency/idempotency_store.ts";
import * as MemoryKeyStore from "./keys/key_store.ts";
import * as MemoryCountLedger from "./limits/count_ledger.ts";
import * as MemoryLinkStore from "./links/link_store.ts";
import * as MemoryMemberStore from "./member_store.ts";
import * as MemoryRootKeyStore from "./secrets/root_key_store.ts";
import * as MemorySessionStore from "./sessions/session_store.ts";
import * as MemorySignInStore from "./sign_ins/sign_in_store.ts";
import { State } from "./state/state.ts";
import * as MemoryUsageStore from "./usage/usage_store.ts";
import * as MemoryUserStore from "./users/user_store.ts";
import * as MemoryWebhookStore from "./webhooks/webhook_store.ts";

/** Every storage port, empty in every build of the layer. */
export const layer: Layer.Layer<StoragePorts> = Layer.mergeAll(
  MemoryLinkStore.layer,
  MemoryKeyStore.layer,
  MemoryMemberStore.layer,
  MemoryAuditLog.layer,
  MemoryCountLedger.layer,
  MemorySessionStore.layer,
  MemoryFlowStore.layer,
  MemoryRootKeyStore.layer,
  MemorySightingStore.layer,
  MemoryUserStore.layer,
  MemoryAltReviewStore.layer,
  MemoryIdempotencyStore.layer,
  MemorySignInStore.layer,
  MemoryUsageStore.layer,
  MemoryEventStore.layer,
  MemoryWebhookStore.layer,
).pipe(Layer.provide(State.layer));
