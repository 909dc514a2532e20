/** The page of one key: its settings, its actions, and its history. */
import { AuditLog } from "@accountlink/core";
import { allows, type MemberRole } from "@accountlink/core/accounts";
import { auditActions } from "@accountlink/core/audit";
import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import { Limits, type Quota, quotaOf } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { counted } from "../../english_counts.ts";
import { type Html, html, section, to } from "../../html.ts";
import { makeEntryNames } from "../audit/entry_names.ts";
import { historyHtml, whoOf } from "../audit/sentences.ts";
import { marksOf } from "../form_values.ts";
import { dangerTo, menuField, panelTo, textField } from "../look/field.ts";
import { accesses, expiryHtml, nameOf, scopeText, stateHtml } from "../look/owned_key.ts";
import type { Refused } from "../look/refused.ts";
import { hasEarlierSecret, secretsOf } from "../look/rotation.ts";
import { timeHtml, timeOr } from "../look/time.ts";
import { namedGuilds, type OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { communityPath, keyPath, paths, withQuery } from "../paths.ts";
import { type KeyRules, keyLabels, rulesFields, rulesOf } from "./key_form.ts";

const shownChanges = 10;

/** An index finds these. What the key wrote is many, and in the audit log. */
const keyActions = auditActions.filter((each) => each.startsWith("key."));

export const makeKeyView = Effect.gen(function* () {
  const log = yield* AuditLog;
  const limits = yield* Limits;
  const namesOf = yield* makeEntryNames;

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, key: KeyDetails) {
    const filter = { action: null, keyId: key.id, readable: keyActions };
    const { name } = visitor.owner.account;
    const { entries: history } = yield* log.list(name, null, shownChanges, filter);
    const creations = yield* log.list(name, null, 1, { ...filter, action: "key.created" });
    const [created = null] = creations.entries;
    const names = yield* namesOf(visitor, [key], created === null ? history : [created, ...history]);
    const quota = quotaOf(key.limits, limits[key.tier]);
    return { key, quota, guilds: namedGuilds(visitor), names, created, history };
  });
});

type KeyView = Effect.Success<ReturnType<Effect.Success<typeof makeKeyView>>>;

export const keyPage = (
  view: KeyView,
  rules: KeyRules,
  role: MemberRole,
  now: Millis,
  refused: Refused | null,
): Page => {
  const { key } = view;
  return {
    title: nameOf(key),
    section: "keys",
    refused,
    labels: { ...keyLabels, ...actLabels },
    content: html`
${facts(view, now)}
${
  key.status === "revoked"
    ? html`<p>A revoked key never works again. It disappears from the list after 30 days.</p>`
    : rulesForm(key, rules, role)
}
${section("History")`
${historyHtml(view.history, view.names)}
<p class="more"><a href="${to(withQuery(paths.audit, { keyId: key.id }))}">Full history in the audit log</a> ·
<a href="${to(withQuery(paths.usage, { keyId: key.id }))}">Usage of this key</a></p>`}
${key.status !== "revoked" && acts(key, key.access !== "manage" || allows(role, "owner"), now)}`,
  };
};

const actLabels = { confirm: "Confirmation", graceSeconds: "Current secret", status: "Status" };

const facts = ({ key, quota, guilds, created, names }: KeyView, now: Millis): Html => html`
<p>${stateHtml(key, now)} <code>${maskedKey(key.id)}</code></p>
<dl class="facts">
<div><dt>List</dt><dd>${scopeText(key, guilds)}</dd></div>
<div><dt>${
  key.scope.kind === "guild" ? "Community" : "Settings"
}</dt><dd><a href="${to(communityPath(key.scope.pid))}">Verify address and settings</a> <code>${key.scope.pid}</code></dd></div>
<div><dt>Permissions</dt><dd>${accesses[key.access].label}</dd></div>
<div><dt>Tier</dt><dd>${key.tier}${key.kind === "normal" ? null : `, ${key.kind}`}</dd></div>
<div><dt>Limits</dt><dd>${quotaText(quota)}</dd></div>
<div><dt>Created</dt><dd>${timeHtml(key.createdAt)}${created !== null && html` by ${whoOf(created.actor, names)}`}</dd></div>
<div><dt>Last used</dt><dd>${timeOr(key.lastUsedAt, "never")}</dd></div>
<div><dt>Expires</dt><dd>${expiryHtml(key, now)}</dd></div>
${
  hasEarlierSecret(key, now) &&
  key.status !== "revoked" &&
  html`<div><dt>Earlier secret accepted until</dt><dd>${timeHtml(key.previousSecretEndsAt)}</dd></div>`
}
</dl>`;

const quotaText = ({ perWindow, windowMs, daily, verifyDaily }: Quota): string => {
  const parts = [
    perWindow === null ? null : `${counted(perWindow, "request")} per ${windowText(windowMs)}`,
    daily === null ? null : `${counted(daily, "request")} a day`,
    verifyDaily === null ? null : `${counted(verifyDaily, "verification request")} a day`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "none" : parts.join(", ");
};

const windowText = (windowMs: number): string =>
  windowMs === 1000 ? "second" : `${windowMs / 1000} seconds`;

const rulesForm = (key: KeyDetails, rules: KeyRules, role: MemberRole): Html => section("Settings")`
${panelTo(keyPath(key.id, "update"), { shown: rules.shown ?? marksOf(rulesOf(key)) })`
${rulesFields(rules, role)}
<button class="button">Save the settings</button>`}`;

/** @param mayGive whether the member may give a secret, and what the key lost */
const acts = (key: KeyDetails, mayGive: boolean, now: Millis): Html => html`
${
  mayGive &&
  section("Rotate")`
${panelTo(keyPath(key.id, "rotate"), { seen: secretsOf(key) })`
<p>The key gets a new secret, which is shown once. Its ID, rules and history stay.${
  hasEarlierSecret(key, now) ? " The earlier secret, which is still accepted, is refused at once." : null
}</p>
${menuField({ name: "graceSeconds", label: actLabels.graceSeconds, value: "86400", choices: graces })}
<button class="button quiet">Rotate the key</button>`}`
}
${section("Danger zone")`
${mayGive || isActive(key) ? statusForm(key) : null}
${dangerTo(keyPath(key.id, "revoke"))`
<p>A revoked key never works again. The links of its users stay.</p>
${textField({
  name: "confirm",
  label: html`Type <strong>${key.id}</strong> to confirm`,
  value: "",
  required: true,
  awaited: key.id,
})}
<button class="button bad">Revoke the key</button>`}`}`;

const statusForm = (key: KeyDetails): Html => dangerTo(keyPath(key.id, "status"))`
<p>${
  isActive(key)
    ? "Every request with a disabled key is refused until you enable it again."
    : "Requests with the key are accepted again, under its rules."
}</p>
<button class="button quiet" name="status" value="${isActive(key) ? "disabled" : "active"}">${
  isActive(key) ? "Disable the key" : "Enable the key"
}</button>`;

const isActive = ({ status }: KeyDetails): boolean => status === "active";

const graces = [
  { value: "86400", label: "Accept it for one more day" },
  { value: "604800", label: "Accept it for one more week" },
  { value: "3600", label: "Accept it for one more hour" },
  { value: "0", label: "Refuse it at once" },
];
