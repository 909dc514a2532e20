/** The overview: issues that need the owner's attention, and today's usage against the limits. */

import { AuditLog, OwnedKeys } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { isAccepted, type KeyDetails } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { Limits, quotaOf } from "@accountlink/core/limits";
import { OwnedScopes, sumCounts, type VerifiedWeeks } from "@accountlink/core/owners";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { makeUsageDays, type UsageDay, type UsageGroup } from "@accountlink/core/usage";
import { type WebhookDetails, Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import { makeCommunities } from "../communities/community.ts";
import { firstSteps, makeFirstSteps } from "../communities/first_steps.ts";
import { makeTroubles } from "../communities/troubles.ts";
import { planText } from "../keys/keys_page.ts";
import { countNote, countText, webhookName } from "../look/names.ts";
import { endsSoon, nameOf } from "../look/owned_key.ts";
import { tableHtml } from "../look/table.ts";
import { counted, numberText, timeHtml, timeUntil } from "../look/time.ts";
import type { OwnerPages, OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { keyPath, paths, webhookPath } from "../paths.ts";
import { barChart, daySum, groups, outcomes, requestsOf, sumOf } from "../usage/usage_charts.ts";
import { disabledText } from "../webhooks/webhook_texts.ts";

const mostLeaks = 10;

/** The overview shows at most this many troubles of communities; the page of communities shows all. */
const mostTroubles = 6;

/** The overview shows at most this many keys. */
const mostKeys = 5;

export const overviewRoutes = ({ start }: OwnerPages) =>
  Effect.map(makeView, (viewOf) => [
    start((visitor) => {
      const now = visitor.context.clock.currentTimeMillisUnsafe();
      return Effect.map(viewOf(visitor, now), (view) => overviewPage(view, now));
    }),
  ]);

const makeView = Effect.gen(function* () {
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const limits = yield* Limits;
  const usage = yield* makeUsageDays;
  const webhooks = yield* Webhooks;
  const scopes = yield* OwnedScopes;
  const communities = yield* makeCommunities;
  const stepsOf = yield* makeFirstSteps;
  const troublesOf = yield* makeTroubles;

  /** Counts the links of all communities. Before the first link, also returns the first steps for a new owner. */
  const beginning = Effect.fnUntraced(function* (visitor: OwnerVisitor) {
    const owned = yield* scopes.list(visitor.owner.account);
    const links = sumCounts(owned.map((community) => community.links));
    const weeks = yield* Effect.forEach(owned, ({ scope }) => scopes.counts.weeksOf(scope.pid));
    const verified = {
      last: sumCounts(weeks.map(({ last }) => last)),
      before: sumCounts(weeks.map(({ before }) => before)),
    };
    const lists = owned.length;
    const troubles = yield* forEachLimited(
      owned,
      (each) =>
        Effect.flatMap(communities.named(visitor, each), (community) => troublesOf(visitor, community)),
      { concurrency: 4 },
    );
    const counts = { links, lists, verified, troubles: troubles.flat() };
    if (links.count > 0) return { ...counts, steps: null };
    const first = owned.find(({ scope }) => scope.kind === "guild") ?? owned[0];
    const community = first === undefined ? null : yield* communities.named(visitor, first);
    return { ...counts, steps: yield* stepsOf(visitor, community) };
  });

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, now: Millis) {
    const { account } = visitor.owner;
    const listed = yield* keys.list(account);
    const todayOf = yield* usage.byKey(account.name, 1);
    const active = listed.filter((key) => isAccepted(key, now));
    const today = active
      .map((key) => ({
        key,
        quota: quotaOf(key.limits, limits[key.tier]),
        usage: todayOf(key.id).flatMap((day) => day.groups),
      }))
      .toSorted((one, other) => requestsOf(sumOf(other.usage)) - requestsOf(sumOf(one.usage)))
      .slice(0, mostKeys);
    const filter = { action: "key.reported", keyId: null } as const;
    const reported = yield* log.list(account.name, null, mostLeaks, filter);
    return {
      ...(yield* keys.plan(account)),
      keys: listed,
      today,
      active: active.length,
      /** The usage of each day, oldest first. */
      days: yield* usage.of({ account: account.name }, 14),
      ...(yield* beginning(visitor)),
      /** The chat ID of the user; null if the user is a member of several accounts. */
      alone: visitor.accounts.length === 1 ? visitor.signIn.chatId : null,
      leaks: reported.filter(({ at }) => now - at < 30 * dayMs),
      broken: (yield* webhooks.list(account.name)).filter(
        ({ status, failingSince }) => status === "disabled" || (status === "active" && failingSince !== null),
      ),
    };
  });
});

type OverviewView = Effect.Success<ReturnType<Effect.Success<typeof makeView>>>;

const overviewPage = (view: OverviewView, now: Millis): Page => ({
  title: "Overview",
  section: "overview",
  content: html`
${attention(view, now)}
${view.steps === null ? null : html`<section class="panel"><h2>Your first verified user</h2>${firstSteps(view.steps)}</section>`}
${
  view.steps === null || view.alone === null || view.keys.length > 0
    ? null
    : html`<p class="more">This account is new and your own. If you expected the account of a team, you are not in it,
      or no longer: one of its owners can invite you by your ID, ${view.alone}.</p>`
}
${view.keys.length === 0 ? null : figures(view)}`,
});

const attention = ({ keys, leaks, broken, troubles }: OverviewView, now: Millis): Html | null => {
  const ending = keys.filter((key) => endsSoon(key, now));
  if (leaks.length + ending.length + broken.length + troubles.length === 0) return null;
  return html`
<section>
<h2>Needs your attention</h2>
<ul class="cards" role="list">
${leaks.map((leak) => leakItem(leak, keys))}
${troubles.slice(0, mostTroubles).map(({ tone, text }) => html`<li class="${tone}"><p>${text}</p></li>`)}
${broken.map(webhookItem)}
${ending.map(
  (key) =>
    html`<li class="warn"><p><a href="${to(keyPath(key.id))}">${nameOf(key)}</a> expires
      ${timeUntil(key.expiresAt ?? now, now)}. Choose a later last day, or replace the key.</p></li>`,
)}
</ul>
${
  troubles.length > mostTroubles
    ? html`<p class="more"><a href="${to(paths.communities)}">${counted(troubles.length - mostTroubles, "further problem")} of your communities</a></p>`
    : null
}
</section>`;
};

const webhookItem = (webhook: WebhookDetails): Html => {
  const { id, status, failingSince, pending } = webhook;
  const link = html`<a href="${to(webhookPath(id))}">${webhookName(webhook)}</a>`;
  return status === "disabled" || failingSince === null
    ? html`<li class="bad"><p>The webhook ${link} was disabled. ${disabledText(webhook)}</p></li>`
    : html`<li class="warn"><p>The webhook ${link} fails since ${timeHtml(failingSince)}.
      ${counted(pending, "event waits", "events wait")}. Deliveries are tried again; after five days of failures the webhook
      is disabled.</p></li>`;
};

const leakItem = ({ at, details }: AuditEntry, keys: ReadonlyArray<KeyDetails>): Html => {
  const id = String(details["keyId"]);
  const key = keys.find((known) => known.id === id);
  return html`<li class="bad"><p><strong>${key === undefined ? `Key ${id}` : nameOf(key)}</strong> was reported as
    leaked on ${timeHtml(at)} and revoked at once. <a href="${to(paths.newKey)}">Create another</a>, and find out where it
    was published.</p></li>`;
};

const figures = (view: OverviewView): Html => {
  const week = view.days.slice(-7);
  return html`
<div data-live>
${numbers(view)}
<section>
<h2>The last seven days</h2>
${barChart(week)}
${weekTable(week)}
<p class="more"><a href="${to(paths.usage)}">All usage</a></p>
</section>
<section>
<h2>Keys today</h2>
<p>${planText(view)}</p>
${
  view.today.length === 0
    ? html`<p class="empty">No key is active.</p>`
    : html`<ul class="cards" role="list">${view.today.map(todayCard)}</ul>`
}
${
  view.today.length < view.active
    ? html`<p class="more">The busiest ${view.today.length} of ${numberText(view.active)} active keys.
      <a href="${to(paths.keys)}">All keys</a></p>`
    : null
}
</section>
</div>`;
};

const numbers = ({ days, links, lists, verified }: OverviewView): Html => {
  const today = sumOf(days.slice(-1).map((usage) => daySum(usage)));
  const [last, before] = [days.slice(-7), days.slice(0, -7)].map((week) =>
    requestsOf(sumOf(week.map((usage) => daySum(usage)))),
  );
  return html`
<dl class="figures">
${figure("Requests today", numberText(requestsOf(today)))}
${figure("Refused or failed today", numberText(today.refused + today.errors))}
${figure("Requests in seven days", numberText(last ?? 0), changeText(last ?? 0, before ?? 0))}
${figure(
  "Links",
  countText(links),
  [lists < 2 ? null : `in ${lists} lists`, countNote(links)].filter((note) => note !== null).join(", ") ||
    null,
)}
${figure("Verified in seven days", countText(verified.last), verifiedNote(verified))}
</dl>`;
};

const figure = (label: string, value: string, note: string | null = null): Html =>
  html`<div><dt>${label}${note === null ? null : html` <small>${note}</small>`}</dt><dd>${value}</dd></div>`;

const verifiedNote = ({ last, before }: VerifiedWeeks): string | null =>
  before.age === null ? countNote(last) : (countNote(last) ?? changeText(last.count, before.count));

const changeText = (now: number, before: number): string => {
  if (before === 0) return "none the week before";
  const percent = Math.round((100 * (now - before)) / before);
  return percent === 0
    ? "as the week before"
    : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} % against the week before`;
};

const todayCard = ({ key, quota, usage }: OverviewView["today"][number]): Html => html`
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
  const sums = (Object.keys(groups) as ReadonlyArray<UsageGroup>)
    .map((group) => ({ group, sum: sumOf(week.map((usage) => daySum(usage, group))) }))
    .filter(({ sum }) => requestsOf(sum) > 0);
  return sums.length === 0
    ? null
    : tableHtml({
        id: "causes",
        caption: "Requests of the last seven days, by group of routes",
        columns: ["Group", ...Object.values(outcomes).map((label) => ({ label, isNumber: true }))],
        rows: sums.map(({ group, sum: { served, refused, errors } }) => [
          groups[group],
          ...[served, refused, errors].map(numberText),
        ]),
      });
};
