/** Usage by day and key: its page, its file, and its JSON route. */
import { OwnedKeys } from "@accountlink/core";
import type { KeyDetails, KeyOwner } from "@accountlink/core/keys";
import { makeUsageDays, type UsageDay } from "@accountlink/core/usage";
import { DashboardActivity } from "@accountlink/http-api";
import { Effect } from "effect";
import { numberText } from "../../english_counts.ts";
import { type Html, html, to } from "../../html.ts";
import { jsonRoutes, makeOperation } from "../api_pipeline.ts";
import { csvOf, csvResponse } from "../csv_file.ts";
import type { Fields } from "../form_fields.ts";
import { filtersOf, menuField } from "../look/field.ts";
import { keyMenu, nameOf } from "../look/owned_key.ts";
import { type Column, tableHtml } from "../look/table.ts";
import { dayHtml } from "../look/time.ts";
import type { OwnerPages } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import {
  barChart,
  countsOf,
  daySum,
  groupNames,
  groups,
  outcomeColumns,
  requestsOf,
} from "./usage_charts.ts";

export const usageRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const operation = yield* makeOperation;
  const keys = yield* OwnedKeys;
  const usage = yield* makeUsageDays;

  /** Reads the usage of the key that the filter selects, or of every used key if the filter selects none. */
  const byKey = Effect.fnUntraced(function* (owner: KeyOwner, { keyId, days }: UsageFilter) {
    if (keyId !== null) {
      const key = yield* keys.find(owner, keyId);
      return [{ key, days: yield* usage.of({ key: key.id }, days) }];
    }
    const daysOf = yield* usage.byKey(owner.account.name, days);
    const used = (yield* keys.list(owner)).filter(({ lastUsedAt }) => lastUsedAt !== null);
    return used.map((key) => ({ key, days: daysOf(key.id) }));
  });

  const getUsage = operation(DashboardActivity.getUsage, function* ({ owner, values: { keyId, days } }) {
    const key = keyId === null ? null : yield* keys.find(owner, keyId);
    return { days: yield* usage.of(key === null ? { account: owner.account.name } : { key: key.id }, days) };
  });

  return [
    ...jsonRoutes([getUsage]),
    page(paths.usage, function* ({ owner }, query) {
      const filter = filterOf(query);
      const found = yield* byKey(owner, filter);
      const only = filter.keyId === null ? undefined : found[0];
      const view = {
        days: only?.days ?? (yield* usage.of({ account: owner.account.name }, filter.days)),
        byKey: only === undefined ? found : [],
        keys: yield* keys.list(owner),
      };
      return usagePage(view, filter);
    }),
    page(paths.usageFile, function* ({ owner }, query) {
      const filter = filterOf(query);
      return csvResponse(`usage-${filter.days}-days`, usageCsv(yield* byKey(owner, filter)));
    }),
  ];
});

const filterOf = (query: Fields): UsageFilter => {
  const days = Number(query("days"));
  return {
    keyId: query("keyId") || null,
    days: Number.isInteger(days) && days >= 1 && days <= 90 ? days : 30,
  };
};

interface UsageFilter {
  /** The key whose usage is shown; null for the usage of all keys. */
  readonly keyId: string | null;
  readonly days: number;
}

export interface KeyUsage {
  readonly key: KeyDetails;
  readonly days: ReadonlyArray<UsageDay>;
}

interface UsageView {
  readonly days: ReadonlyArray<UsageDay>;
  /** The usage of each key on the shown days; empty if the filter selects a single key. */
  readonly byKey: ReadonlyArray<KeyUsage>;
  readonly keys: ReadonlyArray<KeyDetails>;
}

const spans = [7, 30, 90];

const mostKeys = 25;

export const requestsIn = ({ days }: KeyUsage): number => requestsOf(countsOf(days));

export const usagePage = ({ days, byKey, keys }: UsageView, filter: UsageFilter): Page => ({
  title: "Usage",
  section: "usage",
  content: html`
${filtersOf(paths.usage, "Show")`
${keyMenu(keys, filter.keyId)}
${menuField({
  name: "days",
  label: "Days",
  value: String(filter.days),
  choices: [...new Set([...spans, filter.days])].map((span) => ({
    value: String(span),
    label: `Last ${span} days`,
  })),
})}`}
<div data-live>
${barChart(days)}
${byKey.length > 0 && keyTable(byKey)}
${days.some((usage) => requestsOf(daySum(usage)) !== 0) && dayTable(days)}
</div>
<p class="more"><a href="${to(withQuery(paths.usageFile, { ...filter }))}">Download as CSV</a></p>
<p class="hint">Days are in UTC; days without requests are left out. A lookup that finds no link counts as served.
Requests of the last few seconds may be missing.</p>`,
});

const dayTable = (days: ReadonlyArray<UsageDay>) =>
  usageTable(
    "Day",
    "Requests by day and group of routes, newest first",
    days
      .filter((usage) => requestsOf(daySum(usage)) > 0)
      .toReversed()
      .map((usage) => [dayHtml(Date.parse(usage.day)), [usage]]),
  );

const keyTable = (byKey: ReadonlyArray<KeyUsage>) => html`${usageTable(
  "Key",
  "Requests by key and group of routes, busiest first",
  byKey
    .toSorted((one, other) => requestsIn(other) - requestsIn(one))
    .slice(0, mostKeys)
    .map(({ key, days }) => {
      const path = withQuery(paths.usage, { keyId: key.id, days: days.length });
      return [html`<a href="${to(path)}">${nameOf(key)}</a>`, days];
    }),
)}
${
  byKey.length > mostKeys &&
  html`<p class="more">The busiest ${mostKeys} of ${numberText(byKey.length)} used keys. The file has all of them.</p>`
}`;

type UsageRow = readonly [name: Html, days: ReadonlyArray<UsageDay>];

const usageTable = (what: "Day" | "Key", caption: string, rows: ReadonlyArray<UsageRow>) =>
  tableHtml({
    id: `by-${what}`,
    caption,
    columns: [
      [what, ([name]) => name],
      ...groupNames.map(
        (group): Column<UsageRow> => [
          groups[group],
          ([, days]) => numberText(requestsOf(countsOf(days, group))),
          "number",
        ],
      ),
      ...outcomeColumns(([, days]: UsageRow) => countsOf(days)),
    ],
    rows,
  });

/** Writes a line for each day, key and group of routes that had requests. */
const usageCsv = (usage: ReadonlyArray<KeyUsage>): string =>
  csvOf(
    ["day", "keyId", "keyName", "group", "served", "refused", "errors"],
    usage.flatMap(({ key, days }) =>
      days.flatMap(({ day, groups: counted }) =>
        counted
          .filter((counts) => requestsOf(counts) > 0)
          .map(({ group, served, refused, errors }) => [
            day,
            key.id,
            nameOf(key),
            group,
            served,
            refused,
            errors,
          ]),
      ),
    ),
  );
