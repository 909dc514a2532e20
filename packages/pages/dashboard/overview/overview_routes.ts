/** The overview: open decisions, linked and unlinked members, and the requests of keys. */
import type { AuditEntry } from "@accountlink/core/audit";
import type { KeyDetails } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import type { UsageDay, UsageGroup } from "@accountlink/core/usage";
import type { WebhookDetails } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { numberText } from "../../english_counts.ts";
import { type Html, html, section, to } from "../../html.ts";
import { historyHtml } from "../audit/sentences.ts";
import { firstSteps } from "../communities/first_steps.ts";
import { planText } from "../keys/keys_page.ts";
import { listText, webhookName } from "../look/names.ts";
import { endsSoon, nameOf } from "../look/owned_key.ts";
import { capitalised, englishPart, linkTo, say, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { inTimeHtml, timeHtml } from "../look/time.ts";
import type { OwnerPages } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { keyPath, paths, webhookPath, withQuery } from "../paths.ts";
import {
  barChart,
  countsOf,
  groupNames,
  groups,
  outcomeColumns,
  requestsOf,
  sumOf,
} from "../usage/usage_charts.ts";
import { disabledText } from "../webhooks/webhook_texts.ts";
import { changeText, figure, listFigures } from "./community_figures.ts";
import { makeOverviewView, type OverviewView } from "./overview_view.ts";

/** The overview shows at most this many troubles of communities; the page of communities shows all. */
const mostTroubles = 6;

export const overviewRoutes = ({ start }: OwnerPages) =>
  Effect.map(makeOverviewView, (viewOf) => [
    start((visitor) => {
      const now = visitor.context.clock.currentTimeMillisUnsafe();
      return Effect.map(viewOf(visitor, now), (view) => overviewPage(view, now));
    }),
  ]);

const overviewPage = (view: OverviewView, now: Millis): Page => ({
  title: say("menu.overview"),
  section: "overview",
  content: html`
${attention(view, now)}
${view.steps !== null && html`<section class="panel"><h2>${say("overview.first")}</h2>${firstSteps(view.steps)}</section>`}
${
  view.steps !== null &&
  view.alone !== null &&
  view.ofKeys.keys.length === 0 &&
  html`<p class="more">${say("overview.alone", { id: view.alone })}</p>`
}
${view.steps === null ? communities(view, now) : null}
${view.ofKeys.keys.length > 0 && englishPart(keyFigures(view.ofKeys))}`,
});

const communities = (view: OverviewView, now: Millis): Html => html`
<div data-live>
${view.lists.map((list) => listFigures(list, now))}
${
  view.otherLists > 0 &&
  html`<p class="more"><a href="${to(paths.communities)}">${say("overview.more_lists", { count: view.otherLists })}</a></p>`
}
${section(say("overview.changes"))`
${historyHtml(view.changes, view.names, say("overview.no_changes"))}
<p class="more"><a href="${to(withQuery(paths.audit, { action: "link" }))}">${say("overview.changes.all")}</a></p>`}
</div>`;

const attention = (view: OverviewView, now: Millis): Html | null => {
  const { leaks, broken, troubles, undecided, unwatched } = view;
  const { keys } = view.ofKeys;
  const ending = keys.filter((key) => endsSoon(key, now));
  if (leaks.length + ending.length + broken.length + troubles.length + undecided.length + unwatched === 0)
    return null;
  return section(say("overview.attention"))`
<ul class="cards" role="list">
${leaks.map((leak) => leakItem(leak, keys))}
${troubles.slice(0, mostTroubles).map(({ tone, text }) => html`<li class="${tone}"><p>${text}</p></li>`)}
${undecided.map(
  ({ community, count }) =>
    html`<li class="warn"><p>${say("overview.undecided", {
      count,
      a: linkTo(withQuery(paths.newAlts, { pid: community.scope.pid })),
      list: listText(community),
    })}</p></li>`,
)}
${broken.map(webhookItem)}
${ending.map(
  (key) =>
    html`<li class="warn"><p>${say("overview.key_ends", {
      key: html`<a href="${to(keyPath(key.id))}">${keyText(key)}</a>`,
      when: inTimeHtml((key.expiresAt ?? now) - now),
    })}</p></li>`,
)}
</ul>
${
  troubles.length > mostTroubles &&
  html`<p class="more"><a href="${to(paths.communities)}">${say("overview.more_troubles", { count: troubles.length - mostTroubles })}</a></p>`
}
${unwatched > 0 && html`<p class="more"><a href="${to(paths.communities)}">${say("overview.unwatched", { count: unwatched })}</a></p>`}`;
};

const webhookItem = (webhook: WebhookDetails): Html => {
  const { id, status, failingSince, pending } = webhook;
  const link = html`<a href="${to(webhookPath(id))}">${webhookName(webhook)}</a>`;
  return status === "disabled" || failingSince === null
    ? html`<li class="bad">${englishPart(html`<p>The webhook ${link} was disabled. ${disabledText(webhook)}</p>`)}</li>`
    : html`<li class="warn"><p>${say("overview.webhook", { webhook: link, time: timeHtml(failingSince), count: pending })}</p></li>`;
};

/** The name of a key at the start of a sentence. */
const keyText = ({ name, id }: { readonly name: string; readonly id: string }): string | Html =>
  name === "" ? capitalised(say("alts.key", { id })) : name;

const leakItem = ({ at, details }: AuditEntry, keys: ReadonlyArray<KeyDetails>): Html => {
  const id = String(details["keyId"]);
  const key = keys.find((known) => known.id === id);
  return html`<li class="bad"><p>${say("overview.leaked", {
    b: tags.b,
    key: keyText(key ?? { name: "", id }),
    time: timeHtml(at),
    a: linkTo(paths.newKey),
  })}</p></li>`;
};

type KeyFigures = OverviewView["ofKeys"];

const keyFigures = (view: KeyFigures): Html => {
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
