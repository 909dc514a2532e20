/** Routes of the pages of keys, the forms that create and change keys, and the page of one key. */
import { AuditLog, OwnedKeys } from "@accountlink/core";
import { allows, type MemberRole } from "@accountlink/core/accounts";
import { auditActions } from "@accountlink/core/audit";
import { InvalidParameter } from "@accountlink/core/errors";
import { type KeyDetails, type KeyOwner, maskedKey } from "@accountlink/core/keys";
import { Limits, type Quota, quotaOf } from "@accountlink/core/limits";
import { OwnedLinks } from "@accountlink/core/owners";
import type { Millis } from "@accountlink/core/timestamp";
import { makeUsageDays } from "@accountlink/core/usage";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { counted } from "../../english_counts.ts";
import { type Html, html, section, to } from "../../html.ts";
import { jsonRoutes } from "../api_pipeline.ts";
import { makeEntryNames } from "../audit/entry_names.ts";
import { historyHtml, whoOf } from "../audit/sentences.ts";
import type { Fields } from "../form_fields.ts";
import { isUntouched, marksOf } from "../form_values.ts";
import { dangerTo, menuField, panelTo, textField } from "../look/field.ts";
import { accesses, expiryHtml, nameOf, scopeText, stateHtml } from "../look/owned_key.ts";
import { guildErrors, orShowAgain, type Refused } from "../look/refused.ts";
import { hasEarlierSecret, requireSeen, secretsOf } from "../look/rotation.ts";
import { timeHtml, timeOr } from "../look/time.ts";
import {
  makeActs,
  makeGuildChoice,
  namedGuilds,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
  typedIn,
} from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { communityPath, keyPath, paths, withQuery } from "../paths.ts";
import {
  emptyKeyForm,
  expiryOf,
  type KeyRules,
  keyLabels,
  type NewKeyForm,
  rulesFields,
  rulesOf,
} from "./key_form.ts";
import { makeKeyOperations } from "./key_operations.ts";
import { keysPage } from "./keys_page.ts";
import { type Issued, issuedPage, type Made, newKeyPage, refusedIfSent } from "./new_key_page.ts";

export const keyRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const operations = yield* makeKeyOperations;
  const links = yield* OwnedLinks;
  const usage = yield* makeUsageDays;
  const viewOf = yield* makeKeyView;
  const guildsOf = yield* makeGuildChoice;
  const { publicUrl } = yield* HttpSettings;
  const keyOf = ({ owner, context }: OwnerVisitor) => keys.find(owner, String(context.query["id"]));

  const list = Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
    const { account } = visitor.owner;
    const plan = yield* keys.plan(account);
    const listed = yield* keys.list(visitor.owner);
    const daysOf = yield* usage.byKey(account.name, 7);
    const weeks = listed.map((key) => ({ key, days: daysOf(key.id) }));
    const shown = { keys: listed, guilds: namedGuilds(visitor), ...plan };
    const choice = { search: query("q").trim(), sort: query("sort"), isAll: query("all") !== "" };
    return keysPage(shown, weeks, nowOf(visitor), choice);
  });

  const newestOf = ({ owner }: OwnerVisitor) =>
    Effect.map(
      keys.list(owner),
      ([key]): Made | undefined =>
        key && { createdAt: key.createdAt, name: nameOf(key), path: keyPath(key.id) },
    );

  const blank = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: NewKeyForm,
    refused: Refused | null,
  ) {
    const newest = yield* newestOf(visitor);
    return newKeyPage(typed, yield* guildsOf(visitor), visitor.role, { refused, newest });
  });

  const one = (visitor: OwnerVisitor, key: KeyDetails, rules: KeyRules, refused: Refused | null) =>
    Effect.map(viewOf(visitor, key), (view) => keyPage(view, rules, visitor.role, nowOf(visitor), refused));

  const issued = Effect.fnUntraced(function* (
    { chatId }: KeyOwner,
    made: Omit<Issued, "isNew">,
    isNew: boolean,
  ) {
    // The example asks for a linked user, so that its answer has a link.
    const { links: newest } = yield* links.page(made.key.scope, "", null, 1);
    return issuedPage({ ...made, isNew }, publicUrl, newest[0]?.link.chatId ?? chatId);
  });

  /** A button that is pressed twice finds the key revoked. */
  const keyOrRevoked = (visitor: OwnerVisitor, name: string) =>
    Effect.map(keyOf(visitor), (key) =>
      name === "revoke" && key.status === "revoked" ? seeOther(keyPath(key.id), { done: "revoked" }) : key,
    );

  const act = makeActs({ form }, keyPath, keyOrRevoked, (visitor, key, refused, fields, name) =>
    one(
      visitor,
      key,
      name === "update" ? typedIn({ ...keyLabels, shown: "" }, fields) : rulesOf(key),
      refused,
    ),
  );

  return [
    ...jsonRoutes(operations),
    page(paths.keys, list),
    page(paths.newKey, (visitor, query) =>
      blank(visitor, { ...emptyKeyForm, guildId: query("guildId") }, null),
    ),
    form(paths.keys, function* (visitor, fields) {
      const typed = typedIn(keyLabels, fields);
      const sent = refusedIfSent("key", fields, yield* newestOf(visitor));
      if (sent !== null) return yield* blank(visitor, typed, sent);
      return yield* orShowAgain(
        Effect.flatMap(
          operations.create.submit(visitor, fields, { expiresAt: expiryOf(typed.expiresAt) }),
          (made) => issued(visitor.owner, made, true),
        ),
        (refused) => blank(visitor, typed, refused),
        guildErrors,
      );
    }),
    page(keyPath(":id"), (visitor) =>
      Effect.flatMap(keyOf(visitor), (key) => one(visitor, key, rulesOf(key), null)),
    ),

    act("update", operations.update, "updated", (key, fields) => {
      const { name, expiresAt } = typedIn(keyLabels, fields);
      if (name === "") return InvalidParameter.one("name", "expected 1 to 80 characters");
      // If the last day did not change, the exact expiry is kept.
      const isKept = isUntouched(fields, "expiresAt") || expiresAt === rulesOf(key).expiresAt;
      const end = isKept ? undefined : expiryOf(expiresAt);
      return Effect.succeed({ expiresAt: end });
    }),
    act("status", operations.update, ({ status }) => (status === "active" ? "enabled" : "disabled")),
    act(
      "rotate",
      operations.rotate,
      (made, { owner }) => issued(owner, made, false),
      requireSeen("key", "graceSeconds"),
    ),
    act("revoke", operations.revoke, "revoked", ({ id }, fields) =>
      fields("confirm").trim() === id
        ? Effect.succeed({})
        : InvalidParameter.one("confirm", `expected ${id}`),
    ),
  ];
});

const nowOf = ({ context }: OwnerVisitor) => context.clock.currentTimeMillisUnsafe();

const shownChanges = 10;

/** An index finds these. What the key wrote is many, and in the audit log. */
const keyActions = auditActions.filter((each) => each.startsWith("key."));

const makeKeyView = Effect.gen(function* () {
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

const keyPage = (
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
