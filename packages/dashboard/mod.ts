/**
 * The pages of the dashboard, for the HTTP layer that serves them.
 *
 * @internal
 */
export { accountPage } from "./accounts/account_page.ts";
export { type AltsForm, type AltsFound, altsPage, emptyAltsForm } from "./alts/alts_page.ts";
export { auditCsv } from "./audit/audit_csv.ts";
export { type AuditFilter, auditPage } from "./audit/audit_page.ts";
export type { Names } from "./audit/sentences.ts";
export { communitiesPage } from "./communities/communities_page.ts";
export { type Community } from "./communities/community.ts";
export { communityPage, type SaidForm, saidForm, saidOf } from "./communities/community_page.ts";
export { eventsPage, noEventsPage } from "./events/events_page.ts";
export {
  type ImportForm,
  importDonePage,
  importFailedPage,
  importPreviewPage,
  importRunningPage,
  noUploadPage,
  uploadPage,
} from "./imports/import_pages.ts";
export { issuedPage } from "./keys/issued_page.ts";
export { entriesOf, expiryOf, type KeyRules, type NewKeyForm, rulesOf } from "./keys/key_form.ts";
export { keyPage, type RefusedAct } from "./keys/key_page.ts";
export { keysPage, mostCards } from "./keys/keys_page.ts";
export { emptyKeyForm, newKeyPage, type Refused } from "./keys/new_key_page.ts";
export { linkQuestion, unlinkQuestion } from "./links/link_questions.ts";
export { emptyLinkForm, type LinkForm, linksPage, noLinksPage, userPath } from "./links/links_page.ts";
export { linkedUserPage } from "./links/user_page.ts";
export { type NoticeName, noticeHtml } from "./look/notice.ts";
export { nameOf } from "./look/owned_key.ts";
export { script } from "./look/script.ts";
export { style } from "./look/style.ts";
export { overviewPage } from "./overview/overview_page.ts";
export { documentOf, type Page, type PlatformNames, type Visitor } from "./page.ts";
export {
  communityPath,
  importPath,
  type KeyAct,
  keyActPath,
  keyPath,
  paths,
  roleOfPage,
  type WebhookAct,
  webhookActPath,
  webhookPath,
  withQuery,
} from "./paths.ts";
export { type PreviewedState, type PreviewGroup, previewPage } from "./preview/preview_page.ts";
export {
  emptyTrialForm,
  questions,
  type TrialForm,
  type TrialResult,
  trialPage,
} from "./trial/trial_page.ts";
export { usageCsv } from "./usage/usage_csv.ts";
export { type UsageFilter, usagePage } from "./usage/usage_page.ts";
export { issuedWebhookPage } from "./webhooks/issued_webhook_page.ts";
export { newWebhookPage } from "./webhooks/new_webhook_page.ts";
export {
  emptyWebhookForm,
  formOfWebhook,
  type NewWebhookForm,
  typeField,
  type WebhookForm,
} from "./webhooks/webhook_form.ts";
export { type RefusedWebhookAct, webhookPage } from "./webhooks/webhook_page.ts";
export { webhooksPage } from "./webhooks/webhooks_page.ts";
