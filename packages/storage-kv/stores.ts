import type { StoragePorts } from "@accountlink/core";
import { Layer } from "effect";
import * as KvAltReviewStore from "./alts/alt_review_store.ts";
import * as KvSightingStore from "./alts/sighting_store.ts";
import * as KvAuditLog from "./audit/audit_log.ts";
import * as KvEventStore from "./events/event_store.ts";
import * as KvFlowStore from "./flow/flow_store.ts";
import * as KvIdempotencyStore from "./idempotency/idempotency_store.ts";
import * as KvKeyStore from "./keys/key_store.ts";
import * as KvCountLedger from "./limits/count_ledger.ts";
import * as KvLinkStore from "./links/link_store.ts";
import type { Database } from "./records/database.ts";
import * as KvRootKeyStore from "./secrets/root_key_store.ts";
import * as KvSessionStore from "./sessions/session_store.ts";
import * as KvSignInStore from "./sign_ins/sign_in_store.ts";
import * as KvUsageStore from "./usage/usage_store.ts";
import * as KvUserStore from "./users/user_store.ts";
import * as KvWebhookStore from "./webhooks/webhook_store.ts";

export const stores: Layer.Layer<StoragePorts, never, Database> = Layer.mergeAll(
  KvLinkStore.layer,
  KvKeyStore.layer,
  KvAuditLog.layer,
  KvCountLedger.layer,
  KvSessionStore.layer,
  KvFlowStore.layer,
  KvRootKeyStore.layer,
  KvSightingStore.layer,
  KvUserStore.layer,
  KvAltReviewStore.layer,
  KvIdempotencyStore.layer,
  KvSignInStore.layer,
  KvUsageStore.layer,
  KvEventStore.layer,
  KvWebhookStore.layer,
);
