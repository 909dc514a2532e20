import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "../../html.ts";
import { accesses, expiryHtml, type NamedGuild, nameOf, scopeText, stateHtml } from "../look/owned_key.ts";
import { tableHtml } from "../look/table.ts";
import { counted, numberText, timeOr } from "../look/time.ts";
import type { Page } from "../page.ts";
import { keyPath, paths } from "../paths.ts";
import { sparkline } from "../usage/sparkline.ts";
import type { KeyUsage } from "../usage/usage_page.ts";

export interface KeyList {
  /** Newest first. */
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly guilds: ReadonlyArray<NamedGuild>;
  readonly used: number;
  /** The most keys that the plan allows; null if there is no limit. */
  readonly allowed: number | null;
}

/**
 * The maximum number of keys that the page shows as cards. If there are more keys, the page shows a table with the
 * usage of each key in the last seven days.
 */
export const mostCards = 3;

/** @param weeks the last seven days of each key, if there are more than `mostCards`; otherwise empty */
export const keysPage = (list: KeyList, weeks: ReadonlyArray<KeyUsage>, now: Millis): Page => ({
  status: 200,
  title: "Keys",
  section: "keys",
  content: html`
<p>${planText(list)}</p>
<p><a class="button" href="${paths.newKey}">Create a key</a></p>
${list.keys.length === 0 ? html`<p class="empty">There is no key yet. Your bot needs one to look up links.</p>` : weeks.length > 0 ? table(weeks, list.guilds, now) : cards(list, now)}`,
});

/**
 * Says how many keys the plan allows. Keys made by the operator do not count; the text mentions these only if there are
 * any.
 */
export const planText = ({
  used,
  allowed,
  keys = [],
}: Pick<KeyList, "used" | "allowed"> & Partial<Pick<KeyList, "keys">>): string => {
  const living = keys.filter(({ status }) => status !== "revoked").length;
  const others = living > used ? ` You have ${numberText(living - used)} more from the operator.` : "";
  return allowed === null
    ? `${counted(Math.max(used, living), "key")}; your plan has no limit.`
    : `${used} of the ${counted(allowed, "key")} of your plan.${others}`;
};

const cards = ({ keys, guilds }: KeyList, now: Millis): Html => html`
<ul class="cards" role="list">
${keys.map((key) => card(key, guilds, now))}
</ul>`;

const card = (key: KeyDetails, guilds: ReadonlyArray<NamedGuild>, now: Millis): Html => html`
<li>
<h2><a href="${keyPath(key.id)}">${nameOf(key)}</a> ${stateHtml(key, now)}</h2>
<p><code>${maskedKey(key.id)}</code></p>
<dl>
<div><dt>Permissions</dt><dd>${accesses[key.access].label}</dd></div>
<div><dt>List</dt><dd>${scopeText(key, guilds)}</dd></div>
<div><dt>Last used</dt><dd>${timeOr(key.lastUsedAt, "never")}</dd></div>
${key.expiresAt === null ? null : html`<div><dt>Expires</dt><dd>${expiryHtml(key, now)}</dd></div>`}
</dl>
</li>`;

const table = (weeks: ReadonlyArray<KeyUsage>, guilds: ReadonlyArray<NamedGuild>, now: Millis): Html => html`
<div class="field filter" hidden>
<label for="filter">Filter</label>
<input type="search" id="filter" data-filters="#keys tbody" autocomplete="off">
</div>
<div id="keys">
${tableHtml({
  id: "key-list",
  caption: "Keys, newest first, with their requests of the last seven days",
  columns: [
    { label: "Key" },
    { label: "Permissions" },
    { label: "List" },
    { label: "Last used" },
    { label: "Expires" },
    { label: "Seven days", isNumber: true },
  ],
  rows: weeks.map(({ key, days }) => [
    html`<a href="${keyPath(key.id)}">${nameOf(key)}</a> ${stateHtml(key, now)} <small><code>${maskedKey(key.id)}</code></small>`,
    accesses[key.access].label,
    scopeText(key, guilds),
    timeOr(key.lastUsedAt, "never"),
    expiryHtml(key, now),
    sparkline(days),
  ]),
})}
</div>`;
