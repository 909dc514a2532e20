/**
 * The pages of the dashboard, for the HTTP layer that serves them.
 *
 * @internal
 */
export { type AccountView, accountPage } from "./accounts/account_page.ts";
export { type AltsForm, type AltsFound, type AltsView, altsPage, emptyAltsForm } from "./alts/alts_page.ts";
export { actions } from "./audit/actions.ts";
export { auditCsv } from "./audit/audit_csv.ts";
export { type AuditFilter, type AuditView, auditPage } from "./audit/audit_page.ts";
export { csvOf } from "./csv.ts";
export { type Issued, issuedPage } from "./keys/issued_page.ts";
export {
  entriesOf,
  expiryOf,
  type KeyRules,
  type NewKeyForm,
  rulesOf,
} from "./keys/key_form.ts";
export { type KeyView, keyPage, type RefusedAct } from "./keys/key_page.ts";
export { type KeyList, keysPage } from "./keys/keys_page.ts";
export { emptyKeyForm, newKeyPage, type Refused } from "./keys/new_key_page.ts";
export { type NoticeName, noticeHtml } from "./look/notice.ts";
export { script } from "./look/script.ts";
export { style } from "./look/style.ts";
export { type OverviewView, overviewPage } from "./overview/overview_page.ts";
export { documentOf, type Page, type Visitor } from "./page.ts";
export { type KeyAct, keyActPath, keyPath, paths, withQuery } from "./paths.ts";
export { type PreviewedState, type PreviewGroup, previewPage } from "./preview/preview_page.ts";
export {
  emptyTrialForm,
  questions,
  type TrialForm,
  type TrialResult,
  trialPage,
} from "./trial/trial_page.ts";
export { usageCsv } from "./usage/usage_csv.ts";
export { type KeyUsage, type UsageFilter, usagePage } from "./usage/usage_page.ts";
