import type { StoragePorts } from "@accountlink/core";
import { Layer } from "effect";
import * as MemoryAltReviewStore from "./alt_review_store.ts";
import * as MemoryAuditLog from "./audit_log.ts";
import * as MemoryBlockStore from "./block_store.ts";
import * as MemoryDayCounts from "./day_counts.ts";
import * as MemoryEventStore from "./event_store.ts";
import * as MemoryFlowStore from "./flow_store.ts";
import * as MemoryGuildLogStore from "./guild_log_store.ts";
import * as MemoryIdempotencyStore from "./idempotency_store.ts";
import * as MemoryImportStore from "./import_store.ts";
import * as MemoryKeyStore from "./key_store.ts";
import * as MemoryLinkStore from "./link_store.ts";
import * as MemoryMemberStore from "./member_store.ts";
import * as MemoryRolePlanStore from "./role_plan_store.ts";
import * as MemoryRootKeyStore from "./root_key_store.ts";
import * as MemorySessionStore from "./session_store.ts";
import * as MemorySightingStore from "./sighting_store.ts";
import * as MemorySignInStore from "./sign_in_store.ts";
import { State } from "./state.ts";
import * as MemorySuspectStore from "./suspect_store.ts";
import * as MemoryUsageStore from "./usage_store.ts";
import * as MemoryUserStore from "./user_store.ts";
import * as MemoryWebhookStore from "./webhook_store.ts";

/** All storage ports in memory. They are empty each time the layer is built. */
export const layer: Layer.Layer<StoragePorts> = Layer.mergeAll(
  MemoryLinkStore.layer,
  MemoryImportStore.layer,
  MemoryKeyStore.layer,
  MemoryMemberStore.layer,
  MemoryAuditLog.layer,
  MemoryDayCounts.layer,
  MemorySessionStore.layer,
  MemoryFlowStore.layer,
  MemoryRootKeyStore.layer,
  MemorySightingStore.layer,
  MemoryUserStore.layer,
  MemoryAltReviewStore.layer,
  MemorySuspectStore.layer,
  MemoryBlockStore.layer,
  MemoryIdempotencyStore.layer,
  MemorySignInStore.layer,
  MemoryUsageStore.layer,
  MemoryEventStore.layer,
  MemoryWebhookStore.layer,
  MemoryRolePlanStore.layer,
  MemoryGuildLogStore.layer,
).pipe(Layer.provide(State.layer));
