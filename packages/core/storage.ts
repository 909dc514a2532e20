/** One adapter provides all storage ports, because a write can span several of them in one transaction. */
import { Layer } from "effect";
import { forgetInviter, forgetMaker } from "./account_end.ts";
import { memberRecords } from "./accounts/member_store.ts";
import type { BlockStore } from "./admission/block_store.ts";
import { altReviews, storedAltReviews } from "./alts/alt_review_store.ts";
import { sightingRecords, storedSightings } from "./alts/sighting_store.ts";
import { altSuspects, newLinks, storedSuspects } from "./alts/suspect_store.ts";
import type { AuditLog } from "./audit/audit.ts";
import type { EventStore } from "./events/event_store.ts";
import { signInChallenges, storedFlows } from "./flow/flow_store.ts";
import {
  guildLogEntries,
  guildLogMessages,
  guildLogs,
  guildLogUsers,
  storedGuildLogs,
} from "./guild_log/mod.ts";
import type { IdempotencyStore } from "./idempotency/idempotency_store.ts";
import type { ImportStore } from "./imports/import_store.ts";
import { importedLinks, linkImports } from "./imports/link_imports.ts";
import { storedUploads, uploadParts, uploads } from "./imports/upload_store.ts";
import { keyRecords, keySecrets, suspendedOwners } from "./keys/api_key.ts";
import { dayCounts, storedDayCounts } from "./limits/counters.ts";
import type { LinkStore } from "./links/link_store.ts";
import type { RecordType } from "./records/record_type.ts";
import { reminders, storedReminders } from "./reminders/reminder_store.ts";
import { planNotices, storedPlanNotices } from "./roles/plan_notice_store.ts";
import { forgetInPlans, roleMembers, rolePlans, roleProblems } from "./roles/plan_records.ts";
import {
  forgetInPreviews,
  previewMembers,
  previewUsers,
  rolePreviews,
  storedPreviews,
} from "./roles/preview_store.ts";
import { roleChanges, roleReversals, storedRoleHistory } from "./roles/role_history_store.ts";
import { sessionBursts, verificationSessions } from "./sessions/session_store.ts";
import { verificationFlows } from "./sessions/verification_flow.ts";
import { begunSignIns, siteSignIns, storedSignIns } from "./sign_ins/sign_in_store.ts";
import { communityRecords, forgetInCommunities, storedCommunities } from "./stored_communities.ts";
import { storedKeys } from "./stored_keys.ts";
import { storedMembers } from "./stored_members.ts";
import { storedRolePlans } from "./stored_role_plans.ts";
import { rootKeys, storedRootKey } from "./stored_root_key.ts";
import { storedSessions } from "./stored_sessions.ts";
import { storedUpgrades, upgrades } from "./upgrades/upgrade_store.ts";
import { storedUsage, usageDays, usageMeters } from "./usage/usage_store.ts";
import type { UserStore } from "./users/user_store.ts";
import { storedWebhooks } from "./webhooks/stored_webhooks.ts";
import { webhookDeliveries, webhookRecords } from "./webhooks/webhook.ts";

export * from "./account_end.ts";
export { isSameRow, moveRows } from "./storage_rows.ts";
export * from "./stored_communities.ts";
export { findRootKey, rootKeys } from "./stored_root_key.ts";
export { changeSession, findFlow } from "./stored_sessions.ts";
export * from "./verification_ends.ts";

/**
 * The services that a storage adapter provides.
 *
 * @example
 * ```ts
 * import { AuditLog, EventStore, LinkStore, type StoragePorts } from "@accountlink/core";
 * import { MemberStore } from "@accountlink/core/accounts";
 * import { BlockStore } from "@accountlink/core/admission";
 * import { AltReviewStore, SightingStore, SuspectStore } from "@accountlink/core/alts";
 * import { CommunityStore } from "@accountlink/core/communities";
 * import { FlowStore } from "@accountlink/core/flow";
 * import { GuildLogStore } from "@accountlink/core/guild_log";
 * import { ReminderStore } from "@accountlink/core/reminders";
 * import { IdempotencyStore } from "@accountlink/core/idempotency";
 * import { KeyStore } from "@accountlink/core/keys";
 * import { DayCounts } from "@accountlink/core/limits";
 * import { ImportStore, UploadStore } from "@accountlink/core/imports";
 * import { PlanNoticeStore, PreviewStore, RoleHistoryStore, RolePlanStore } from "@accountlink/core/roles";
 * import { RootKeyStore } from "@accountlink/core/secrets";
 * import { SessionStore } from "@accountlink/core/sessions";
 * import { SignInStore } from "@accountlink/core/sign_ins";
 * import { UpgradeStore } from "@accountlink/core/upgrades";
 * import { UsageStore } from "@accountlink/core/usage";
 * import { UserStore } from "@accountlink/core/users";
 * import { WebhookStore } from "@accountlink/core/webhooks";
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect, type Layer } from "effect";
 *
 * const storage: Layer.Layer<StoragePorts> = StorageMemory.layer;
 * const keys = [RootKeyStore, KeyStore, MemberStore, DayCounts, UsageStore, IdempotencyStore];
 * const links = [LinkStore, ImportStore, AltReviewStore, SightingStore, EventStore, WebhookStore, RolePlanStore];
 * const users = [SessionStore, FlowStore, SignInStore, UserStore, AuditLog, BlockStore, SuspectStore];
 * const guilds = [CommunityStore, GuildLogStore, ReminderStore, PlanNoticeStore, RoleHistoryStore, UpgradeStore, UploadStore];
 * const missing = Effect.map(Effect.context<StoragePorts>(), ({ mapUnsafe }) =>
 *   [...keys, ...links, ...users, ...guilds].filter(({ key }) => !mapUnsafe.has(key)),
 * );
 * await Effect.runPromise(Effect.provide(missing, storage)); // []
 * ```
 */
export type StoragePorts =
  | Layer.Success<typeof recordStores>
  | LinkStore
  | ImportStore
  | AuditLog
  | BlockStore
  | UserStore
  | IdempotencyStore
  | EventStore;

/** All types of records. Storages delete, erase and move their records. @internal */
export const recordTypes: ReadonlyArray<RecordType> = [
  keyRecords,
  keySecrets,
  suspendedOwners,
  siteSignIns,
  begunSignIns,
  sightingRecords,
  altReviews,
  altSuspects,
  newLinks,
  verificationSessions,
  sessionBursts,
  verificationFlows,
  signInChallenges,
  roleChanges,
  roleReversals,
  previewMembers,
  planNotices,
  upgrades,
  webhookRecords,
  webhookDeliveries,
  dayCounts,
  usageDays,
  usageMeters,
  reminders,
  guildLogs,
  guildLogEntries,
  guildLogMessages,
  guildLogUsers,
  uploads,
  uploadParts,
  linkImports,
  importedLinks,
  communityRecords,
  rolePreviews,
  previewUsers,
  rolePlans,
  roleMembers,
  roleProblems,
  memberRecords,
];

/**
 * The tables of SQL that moves copy, each after those that its rows refer to. The root key is last: a server that started
 * before would take the target for whole. @internal
 */
export const movedTables: ReadonlyArray<string> = [
  "accounts",
  "scopes",
  "block_removals",
  "links",
  "blocks",
  "import_progress",
  ...recordTypes.map(({ name }) => name),
  "journal",
  "feed_starts",
  "idempotency_keys",
  ...recordTypes.flatMap(({ held }) => (held === null ? [] : [held.nodes])),
  rootKeys.name,
];

/**
 * What an erasure changes besides the records of `ofUser`: each takes the user out of up to `limit` records, and returns
 * whether more may be left. @internal
 */
export const forgetters = [forgetInPlans, forgetInCommunities, forgetInPreviews, forgetInviter, forgetMaker];

/** The stores that are written once for all storages. @internal */
export const recordStores = Layer.mergeAll(
  storedRootKey,
  storedKeys,
  storedSignIns,
  storedSightings,
  storedAltReviews,
  storedSuspects,
  storedSessions,
  storedFlows,
  storedRoleHistory,
  storedPreviews,
  storedPlanNotices,
  storedUpgrades,
  storedWebhooks,
  storedDayCounts,
  storedUsage,
  storedReminders,
  storedGuildLogs,
  storedUploads,
  storedCommunities,
  storedRolePlans,
  storedMembers,
);
