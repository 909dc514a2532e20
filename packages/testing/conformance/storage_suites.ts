import { memberStoreSuite } from "./accounts/member_store_suite.ts";
import { altReviewStoreSuite } from "./alts/alt_review_store_suite.ts";
import { sightingStoreSuite } from "./alts/sighting_store_suite.ts";
import { auditLogSuite } from "./audit/audit_log_suite.ts";
import { eventStoreSuite } from "./events/event_store_suite.ts";
import { flowStoreSuite } from "./flow/flow_store_suite.ts";
import { idempotencyStoreSuite } from "./idempotency/idempotency_store_suite.ts";
import { keyStoreSuite } from "./keys/key_store_suite.ts";
import { countLedgerSuite } from "./limits/count_ledger_suite.ts";
import { linkStoreSuite } from "./links/link_store_suite.ts";
import { type StoragePropertyOptions, storagePropertySuite } from "./property/storage_property_suite.ts";
import { rootKeyStoreSuite } from "./secrets/root_key_store_suite.ts";
import { sessionStoreSuite } from "./sessions/session_store_suite.ts";
import { signInStoreSuite } from "./sign_ins/sign_in_store_suite.ts";
import { usageStoreSuite } from "./usage/usage_store_suite.ts";
import { userStoreSuite } from "./users/user_store_suite.ts";
import { webhookStoreSuite } from "./webhooks/webhook_store_suite.ts";

/** Registers the suite of each storage port and the property suite. */
export const storageSuites = (options: StoragePropertyOptions): void => {
  linkStoreSuite(options);
  keyStoreSuite(options);
  memberStoreSuite(options);
  auditLogSuite(options);
  sessionStoreSuite(options);
  flowStoreSuite(options);
  countLedgerSuite(options);
  rootKeyStoreSuite(options);
  sightingStoreSuite(options);
  altReviewStoreSuite(options);
  signInStoreSuite(options);
  idempotencyStoreSuite(options);
  userStoreSuite(options);
  usageStoreSuite(options);
  eventStoreSuite(options);
  webhookStoreSuite(options);
  storagePropertySuite(options);
};
