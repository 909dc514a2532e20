import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html, to } from "../../html.ts";
import { filtersOf, menuField, textField } from "../look/field.ts";
import { accesses, expiryHtml, type NamedGuild, nameOf, scopeText, stateHtml } from "../look/owned_key.ts";
import { say } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { numberHtml, timeOr } from "../look/time.ts";
import type { Page } from "../page.ts";
import { keyPath, paths, withQuery } from "../paths.ts";
import { sparkline } from "../usage/usage_charts.ts";
import { type KeyUsage, requestsIn } from "../usage/usage_routes.ts";

export interface KeyList {
  /** Newest first. */
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly guilds: ReadonlyArray<NamedGuild>;
  readonly used: number;
  /** The most keys that the plan allows; null if there is no limit. */
  readonly allowed: number | null;
}

/** The page offers to search and sort more keys than this. */
const fewKeys = 3;

/** The page shows at most this many keys, unless the owner asks for all of them. */
const mostKeys = 25;

export interface KeyChoice {
  readonly search: string;
  /** A name of `orders`; any other text keeps the newest key first. */
  readonly sort: string;
  readonly isAll: boolean;
}

/** @param weeks the last seven days of each key */
export const keysPage = (
  list: KeyList,
  weeks: ReadonlyArray<KeyUsage>,
  now: Millis,
  choice: KeyChoice,
): Page => ({
  title: "Keys",
  section: "keys",
  content: html`
<p>${planText(list)}</p>
<p><a class="button" href="${to(paths.newKey)}">Create a key</a></p>
<p class="hint">Fair use: no more keys, accounts, proxies or addresses to get around limits, no scraping, and no trying
again hard after a 429. Keys may be limited, suspended or revoked for it.</p>
${
  list.keys.length === 0
    ? html`<p class="empty">There is no key yet. A bot or game of your own needs one to look up links. With
      the first key come the pages <a href="${to(paths.tryLookup)}">Try it</a>, <a href="${to(paths.events)}">Events</a>,
      <a href="${to(paths.webhooks)}">Webhooks</a> and <a href="${to(paths.usage)}">Usage</a>.</p>`
    : table(weeks, choice, list.guilds, now)
}`,
});

/** Says how many keys the plan allows. It mentions keys by the operator, which do not count, if there are any. */
export const planText = ({
  used,
  allowed,
  keys = [],
}: Pick<KeyList, "used" | "allowed"> & Partial<Pick<KeyList, "keys">>): Html => {
  const living = keys.filter(({ status }) => status !== "revoked").length;
  if (allowed === null) return say("account.keys.unlimited", { count: Math.max(used, living) });
  const others = living > used ? html` ${say("account.keys.operator", { count: living - used })}` : null;
  return html`${say("account.keys.allowed", { used: numberHtml(used), allowed })}${others}`;
};

const orders: Readonly<
  Record<string, { readonly label: string; readonly compare: (one: KeyUsage, other: KeyUsage) => number }>
> = {
  newest: { label: "Newest first", compare: () => 0 },
  name: {
    label: "By name",
    compare: (one, other) => nameOf(one.key).localeCompare(nameOf(other.key), "en"),
  },
  used: {
    label: "Last used first",
    compare: (one, other) => (other.key.lastUsedAt ?? 0) - (one.key.lastUsedAt ?? 0),
  },
  busy: { label: "Busiest first", compare: (one, other) => requestsIn(other) - requestsIn(one) },
};

const table = (
  weeks: ReadonlyArray<KeyUsage>,
  { search, sort, isAll }: KeyChoice,
  guilds: ReadonlyArray<NamedGuild>,
  now: Millis,
): Html => {
  const wanted = search.toLowerCase();
  const found = weeks
    .filter(({ key }) =>
      [nameOf(key), key.id, scopeText(key, guilds)].some((text) => text.toLowerCase().includes(wanted)),
    )
    .toSorted((orders[sort] ?? orders["newest"])?.compare);
  return html`${
    weeks.length > fewKeys &&
    filtersOf(paths.keys, "Search", "search")`
${textField({ name: "q", label: "Find", hint: "Part of a name, an ID or a list", type: "search", value: search })}
${menuField({ name: "sort", label: "Sort", value: sort, choices: Object.entries(orders).map(([value, { label }]) => ({ value, label })) })}`
  }
${tableHtml({
  id: "key-list",
  caption: "Keys with their requests of the last seven days",
  columns: [
    [
      "Key",
      ({ key }) =>
        html`<a href="${to(keyPath(key.id))}">${nameOf(key)}</a> ${stateHtml(key, now)} <small><code>${maskedKey(key.id)}</code></small>`,
    ],
    ["Permissions", ({ key }) => accesses[key.access].label],
    ["List", ({ key }) => scopeText(key, guilds)],
    ["Last used", ({ key }) => timeOr(key.lastUsedAt, "never")],
    ["Expires", ({ key }) => (key.expiresAt === null ? "" : expiryHtml(key, now))],
    ["Seven days", ({ days }) => sparkline(days), "number"],
  ],
  rows: isAll ? found : found.slice(0, mostKeys),
  empty: `No key was found for “${search}”.`,
})}
${
  !isAll &&
  found.length > mostKeys &&
  html`<p class="more"><a class="button quiet" href="${to(withQuery(paths.keys, { q: search, sort, all: "1" }))}">All ${found.length} keys</a></p>`
}`;
};
