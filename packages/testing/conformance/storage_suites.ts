import type { StoragePorts } from "@accountlink/core";
import { Effect, Exit, Layer, Scope } from "effect";
import { altReviewCases } from "./alts/alt_review_store_suite.ts";
import { sightingCases } from "./alts/sighting_store_suite.ts";
import { suspectCases } from "./alts/suspect_store_suite.ts";
import { auditLogCases } from "./audit_log_suite.ts";
import { blockCases } from "./block_store_suite.ts";
import { communityCases } from "./communities/community_store_suite.ts";
import { eventCases } from "./events/events.ts";
import { flowCases } from "./flow_store_suite.ts";
import { guildLogCases } from "./guild_log/guild_log_store_suite.ts";
import { idempotencyCases } from "./idempotency/idempotency_store_suite.ts";
import { importCases } from "./imports/import_store_suite.ts";
import { accounts } from "./keys/accounts.ts";
import { changes } from "./keys/changes.ts";
import { keys } from "./keys/keys.ts";
import { dayCountCases } from "./limits/day_counts_suite.ts";
import { linkStoreSuite } from "./links/link_store_suite.ts";
import { memberCases } from "./member_store_suite.ts";
import { planNoticeCases } from "./plan_notice_store_suite.ts";
import { type StoragePropertyOptions, storagePropertySuite } from "./property/storage_property_suite.ts";
import { undoLawSuite } from "./property/undo_law_suite.ts";
import { recordTypeCases } from "./record_types_suite.ts";
import { reminderCases } from "./reminder_store_suite.ts";
import { members } from "./roles/members.ts";
import { plans } from "./roles/plans.ts";
import { roleHistoryCases } from "./roles/role_history_store_suite.ts";
import { rootKeyStoreSuite } from "./root_key_store_suite.ts";
import { races } from "./sessions/races.ts";
import { sessionCases } from "./sessions/sessions.ts";
import { signInCases } from "./sign_in_store_suite.ts";
import { type Cases, suite, type TestApi } from "./suite.ts";
import { usageCases } from "./usage_store_suite.ts";
import { erasures } from "./users/erasures.ts";
import { webhookCases } from "./webhooks/webhooks.ts";

export interface StorageSuitesOptions extends Omit<StoragePropertyOptions, "model"> {
  /** The model of random commands, such as `StorageMemory.layer`. Without a model, the suite of random commands is left out. */
  readonly model?: StoragePropertyOptions["model"];
}

/** The cases of each port. They use the other ports too, because writes log entries, append events and need a scope. */
const casesOf = (maxChanges?: number): Readonly<Record<string, Cases<StoragePorts>>> => ({
  ImportStore: importCases(maxChanges),
  KeyStore: { ...accounts, ...keys, ...changes },
  MemberStore: memberCases,
  SessionStore: { ...sessionCases, ...races },
  FlowStore: flowCases(maxChanges),
  DayCounts: dayCountCases,
  SightingStore: sightingCases,
  AltReviewStore: altReviewCases,
  SuspectStore: suspectCases,
  BlockStore: blockCases((maxChanges ?? 1_000) >= 300),
  SignInStore: signInCases,
  IdempotencyStore: idempotencyCases,
  UserStore: erasures,
  UsageStore: usageCases,
  WebhookStore: webhookCases,
  CommunityStore: communityCases,
  RolePlanStore: { ...plans, ...members },
  RoleHistoryStore: roleHistoryCases,
  GuildLogStore: guildLogCases,
  PlanNoticeStore: planNoticeCases,
  ReminderStore: reminderCases,
  Records: recordTypeCases,
});

/**
 * Registers the suite of each storage port, and the suite that compares random commands with a model. They share one
 * store, since a store may take longer to start than a suite to run. The suites of audit log and events have a store
 * each, because their sweeps begin with the oldest records and may stop at a newer one.
 */
export const storageSuites = ({ model, ...each }: StorageSuitesOptions): void => {
  const options = { ...each, layer: sharedLayer(each) };
  linkStoreSuite(options);
  for (const [port, cases] of Object.entries(casesOf(each.maxChanges))) suite(port, options, cases);
  suite("AuditLog", each, auditLogCases);
  suite("EventStore", each, eventCases);
  rootKeyStoreSuite(each);
  undoLawSuite({ ...options, runs: options.runs ?? 10 });
  if (model !== undefined) storagePropertySuite({ ...options, model });
};

/** Builds the adapter when the first suite needs it, and closes it after all suites. */
const sharedLayer = <Ports, E>({
  layer,
  test,
}: {
  readonly layer: Layer.Layer<Ports, E>;
  readonly test: TestApi;
}): Layer.Layer<Ports, E> => {
  const scope = Scope.makeUnsafe();
  test.afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));
  return Layer.effectContext(Effect.runSync(Effect.cached(Layer.buildWithScope(layer, scope))));
};
