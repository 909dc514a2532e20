import { Effect, Exit, Layer, Scope } from "effect";
import { altReviewStoreSuite } from "./alts/alt_review_store_suite.ts";
import { sightingStoreSuite } from "./alts/sighting_store_suite.ts";
import { suspectStoreSuite } from "./alts/suspect_store_suite.ts";
import { auditLogSuite } from "./audit_log_suite.ts";
import { blockStoreSuite } from "./block_store_suite.ts";
import { communityStoreSuite } from "./communities/community_store_suite.ts";
import { eventStoreSuite } from "./events/event_store_suite.ts";
import { flowStoreSuite } from "./flow_store_suite.ts";
import { guildLogStoreSuite } from "./guild_log/guild_log_store_suite.ts";
import { idempotencyStoreSuite } from "./idempotency/idempotency_store_suite.ts";
import { importStoreSuite } from "./imports/import_store_suite.ts";
import { keyStoreSuite } from "./keys/key_store_suite.ts";
import { dayCountsSuite } from "./limits/day_counts_suite.ts";
import { linkStoreSuite } from "./links/link_store_suite.ts";
import { memberStoreSuite } from "./member_store_suite.ts";
import { planNoticeStoreSuite } from "./plan_notice_store_suite.ts";
import { type StoragePropertyOptions, storagePropertySuite } from "./property/storage_property_suite.ts";
import { undoLawSuite } from "./property/undo_law_suite.ts";
import { recordTypesSuite } from "./record_types_suite.ts";
import { reminderStoreSuite } from "./reminder_store_suite.ts";
import { roleHistoryStoreSuite } from "./roles/role_history_store_suite.ts";
import { rolePlanStoreSuite } from "./roles/role_plan_store_suite.ts";
import { rootKeyStoreSuite } from "./root_key_store_suite.ts";
import { sessionStoreSuite } from "./sessions/session_store_suite.ts";
import { signInStoreSuite } from "./sign_in_store_suite.ts";
import type { TestApi } from "./suite.ts";
import { usageStoreSuite } from "./usage_store_suite.ts";
import { userStoreSuite } from "./users/user_store_suite.ts";
import { webhookStoreSuite } from "./webhooks/webhook_store_suite.ts";

export interface StorageSuitesOptions extends Omit<StoragePropertyOptions, "model"> {
  /** The model of random commands, such as `StorageMemory.layer`. Without a model, the suite of random commands is left out. */
  readonly model?: StoragePropertyOptions["model"];
}

/**
 * Registers the suite of each storage port, and the suite that compares random commands with a model. They share one
 * store, since a store may take longer to start than a suite to run. The suites of audit log and events have a store
 * each, because their sweeps begin with the oldest records and may stop at a newer one.
 */
export const storageSuites = ({ model, ...each }: StorageSuitesOptions): void => {
  const options = { ...each, layer: sharedLayer(each) };
  linkStoreSuite(options);
  importStoreSuite(options);
  keyStoreSuite(options);
  memberStoreSuite(options);
  auditLogSuite(each);
  sessionStoreSuite(options);
  flowStoreSuite(options);
  dayCountsSuite(options);
  rootKeyStoreSuite(each);
  sightingStoreSuite(options);
  altReviewStoreSuite(options);
  suspectStoreSuite(options);
  blockStoreSuite(options);
  signInStoreSuite(options);
  idempotencyStoreSuite(options);
  userStoreSuite(options);
  usageStoreSuite(options);
  eventStoreSuite(each);
  webhookStoreSuite(options);
  communityStoreSuite(options);
  rolePlanStoreSuite(options);
  roleHistoryStoreSuite(options);
  guildLogStoreSuite(options);
  planNoticeStoreSuite(options);
  reminderStoreSuite(options);
  recordTypesSuite(options);
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
