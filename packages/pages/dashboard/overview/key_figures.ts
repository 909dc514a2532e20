/** The part of the overview about keys: today's and this week's requests against the limits. */
import type { UsageDay, UsageGroup } from "@accountlink/core/usage";
import { numberText } from "../../english_counts.ts";
import { type Html, html, section, to } from "../../html.ts";
import { planText } from "../keys/keys_page.ts";
import { nameOf } from "../look/owned_key.ts";
import { tableHtml } from "../look/table.ts";
import { keyPath, paths } from "../paths.ts";
import {
  barChart,
  countsOf,
  groupNames,
  groups,
  outcomeColumns,
  requestsOf,
  sumOf,
} from "../usage/usage_charts.ts";
import { changeText, figure } from "./community_figures.ts";
import type { OverviewView } from "./overview_view.ts";

type KeyFigures = OverviewView["ofKeys"];

export const keyFigures = (view: KeyFigures): Html => {
  const week = view.days.slice(-7);
  return html`
<div data-live>
${section("Requests of your programs")`
${numbers(view)}
${barChart(week)}
${weekTable(week)}
<p class="more"><a href="${to(paths.usage)}">All usage</a></p>`}
${section("Keys today")`
<p>${planText(view)}</p>
${
  view.today.length === 0
    ? html`<p class="empty">No key is active.</p>`
    : html`<ul class="cards" role="list">${view.today.map(todayCard)}</ul>`
}
${
  view.today.length < view.active &&
  html`<p class="more">The busiest ${view.today.length} of ${numberText(view.active)} active keys.
      <a href="${to(paths.keys)}">All keys</a></p>`
}`}
</div>`;
};

const numbers = ({ days }: KeyFigures): Html => {
  const today = countsOf(days.slice(-1));
  const [last, before] = [requestsOf(countsOf(days.slice(-7))), requestsOf(countsOf(days.slice(0, -7)))];
  return html`
<dl class="figures">
${figure("Requests today", numberText(requestsOf(today)))}
${figure("Refused or failed today", numberText(today.refused + today.errors))}
${figure("Requests in seven days", numberText(last), changeText(last, before))}
</dl>`;
};

const todayCard = ({ key, quota, usage }: KeyFigures["today"][number]): Html => html`
<li>
<h3><a href="${to(keyPath(key.id))}">${nameOf(key)}</a></h3>
${meter(
  "Requests",
  counting(usage, (group) => group !== "session"),
  quota.daily,
)}
${meter(
  "Verification requests",
  counting(usage, (group) => group === "session"),
  quota.verifyDaily,
)}
</li>`;

/** Sums the requests that count against the daily limit: all except requests refused by a limit. */
const counting = (counts: UsageDay["groups"], isCounted: (group: UsageGroup) => boolean): number => {
  const { served, errors } = sumOf(counts.filter(({ group }) => isCounted(group)));
  return served + errors;
};

const meter = (label: string, count: number, limit: number | null): Html =>
  limit === null
    ? html`<p>${label}: ${numberText(count)}, without a limit</p>`
    : html`<p>${label}: ${numberText(count)} of ${numberText(limit)}
<meter value="${Math.min(count, limit)}" max="${limit}" high="${limit * 0.9}" aria-label="${label}"></meter></p>`;

/** Renders a table of the week's responses by group of routes; null if there were no requests. */
const weekTable = (week: ReadonlyArray<UsageDay>): Html | null => {
  const sums = groupNames
    .map((group) => ({ group, sum: countsOf(week, group) }))
    .filter(({ sum }) => requestsOf(sum) > 0);
  return sums.length === 0
    ? null
    : tableHtml({
        id: "causes",
        caption: "Requests of the last seven days, by group of routes",
        columns: [
          ["Group", ({ group }) => groups[group]],
          ...outcomeColumns(({ sum }: (typeof sums)[number]) => sum),
        ],
        rows: sums,
      });
};
