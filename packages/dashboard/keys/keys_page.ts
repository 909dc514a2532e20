/**
 * The list of keys.
 */
import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "@accountlink/html";
import { accesses, endsSoon, type NamedGuild, nameOf, scopeText, stateHtml } from "../look/owned_key.ts";
import { counted, timeHtml, timeUntil } from "../look/time.ts";
import type { Page } from "../page.ts";
import { keyPath, paths } from "../paths.ts";

/** The keys of an account, beside those that its plan allows. */
export interface KeyList {
  /** Newest first. */
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly guilds: ReadonlyArray<NamedGuild>;
  readonly used: number;
  /** Null for no limit. */
  readonly allowed: number | null;
}

export const keysPage = (list: KeyList, now: Millis): Page => ({
  status: 200,
  title: "Keys",
  section: "keys",
  content: html`
<p>${planText(list)}</p>
<p><a class="button" href="${paths.newKey}">Create a key</a></p>
${list.keys.length === 0 ? html`<p class="empty">There is no key yet. A program that asks for links needs one.</p>` : listed(list, now)}`,
});

/** How many keys the plan allows. Those that the operator made do not count, and are said only where there are some. */
export const planText = ({
  used,
  allowed,
  keys = [],
}: Pick<KeyList, "used" | "allowed"> & Partial<Pick<KeyList, "keys">>): string => {
  const living = keys.filter(({ status }) => status !== "revoked").length;
  const others = living > used ? ` ${counted(living - used, "key")} of the operator's besides.` : "";
  return allowed === null
    ? `${counted(Math.max(used, living), "key")}; your plan has no limit.`
    : `${used} of the ${counted(allowed, "key")} of your plan.${others}`;
};

const listed = ({ keys, guilds }: KeyList, now: Millis): Html => html`
<div class="field filter" hidden>
<label for="filter">Filter</label>
<input type="search" id="filter" data-filters="keys" autocomplete="off">
</div>
<ul class="cards" id="keys" role="list">
${keys.map((key) => card(key, guilds, now))}
</ul>`;

const card = (key: KeyDetails, guilds: ReadonlyArray<NamedGuild>, now: Millis): Html => html`
<li>
<h2><a href="${keyPath(key.id)}">${nameOf(key)}</a> ${stateHtml(key, now)}</h2>
<p><code>${maskedKey(key.id)}</code></p>
<dl>
<div><dt>Permissions</dt><dd>${accesses[key.access].label}</dd></div>
<div><dt>Scope</dt><dd>${scopeText(key, guilds)}</dd></div>
<div><dt>Last used</dt><dd>${key.lastUsedAt === null ? "never" : timeHtml(key.lastUsedAt)}</dd></div>
${key.expiresAt === null ? null : html`<div><dt>Expires</dt><dd>${timeHtml(key.expiresAt)}${endsSoon(key, now) ? html` <span class="badge warn">${timeUntil(key.expiresAt, now)}</span>` : null}</dd></div>`}
</dl>
</li>`;
