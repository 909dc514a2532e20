/** What the rules gave and took: a list, a file, and a way to give back what they took. */
import type { ScopedGuild } from "@accountlink/core/communities";
import type { KeptRoleChange, RolePlans } from "@accountlink/core/roles";
import { dayMs, formatTimestamp, hourMs, type Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { formTo, type Html, html, section, to } from "../../html.ts";
import type { ManagedGuild } from "../communities/managed_guild.ts";
import { pagedCsv } from "../csv_file.ts";
import { radioField } from "../look/field.ts";
import { type AccountNames, guildText } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { type NamedRoles, roleName } from "../look/remedies.ts";
import { say } from "../look/say.ts";
import { memberColumn, nextPage, tableHtml } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { historyFilePath, historyPath, rolesPath, withQuery } from "../paths.ts";

const periods = [
  ["hour", hourMs],
  ["day", dayMs],
  ["week", 7 * dayMs],
  ["month", 30 * dayMs],
] as const;

/** How many roles can be given back of those that were taken since the beginning of a period. */
interface TakenIn {
  readonly period: (typeof periods)[number][0];
  readonly since: Millis;
  readonly count: number;
}

export interface HistoryView extends NamedRoles, ManagedGuild {
  readonly changes: ReadonlyArray<KeptRoleChange>;
  readonly next: string | null;
  readonly names: AccountNames["chats"];
  /** The periods of which roles can be given back, the shortest first. */
  readonly taken: ReadonlyArray<TakenIn>;
  readonly pending: number;
}

export const historyPage = (view: HistoryView, refused: Refused | null): Page => {
  const { community, scope, guildId, guildName, changes, next, names } = view;
  const file = to(withQuery(historyFilePath(scope.pid), { guildId }));
  return {
    title: say("roles.history.title", { community: guildText(guildId, guildName) }),
    section: "communities",
    refused,
    content: html`
<p><a href="${to(withQuery(rolesPath(community.scope.pid), { guildId }))}">${say("roles.history.rules")}</a></p>
${putBackSection(view)}
${
  changes.length === 0
    ? html`<p>${say("roles.history.none")}</p>`
    : html`<p><a href="${file}">${say("roles.history.file")}</a></p>
${tableHtml({
  id: "changes",
  caption: say("roles.history.caption"),
  columns: [
    memberColumn(scope.pid, names),
    [say("rule.role"), ({ roleId }) => roleName(view, roleId)],
    [say("roles.history.change"), ({ change }) => say(`roles.history.${change}`)],
    [say("roles.history.at"), ({ at }) => timeHtml(at)],
    [say("roles.try.why"), ({ because }) => say(`roles.history.because.${because}`)],
  ],
  rows: changes,
})}
${nextPage(next && withQuery(historyPath(scope.pid), { guildId, cursor: next }), say("roles.history.more"))}`
}`,
  };
};

const putBackSection = ({ scope, guildId, taken, pending }: HistoryView): Html | null => {
  const [last] = taken.toReversed();
  if (pending === 0 && last === undefined) return null;
  return section(say("roles.history.back"))`
${pending > 0 ? html`<p data-live="10">${say("roles.history.running", { count: pending })}</p>` : null}
${
  last !== undefined &&
  formTo(withQuery(historyPath(scope.pid), { guildId }), { guildId })`
<p>${say("roles.history.back.text")}</p>
${radioField({
  name: "since",
  label: say("roles.history.back.period"),
  value: formatTimestamp(last.since),
  choices: taken.map(({ period, since, count }) => ({
    value: formatTimestamp(since),
    label: say(`roles.history.back.${period}`, { count }),
  })),
})}
<p class="row"><button class="button">${say("roles.history.back.button")}</button></p>`
}`;
};

/** Counts the roles that a visitor can have given back, by how long ago they were taken. */
export const takenIn = Effect.fnUntraced(function* (
  plans: RolePlans["Service"],
  guild: ScopedGuild,
  givable: ReadonlyArray<string>,
  now: Millis,
) {
  const counts = yield* Effect.forEach(periods, ([period, time]) => {
    const since = now - time;
    return Effect.map(plans.countTaken(guild, since), (all): TakenIn => {
      const known = all.filter(({ roleId }) => givable.includes(roleId));
      return { period, since, count: known.reduce((sum, { count }) => sum + count, 0) };
    });
  });
  return counts.filter(({ count }, index) => count > 0 && count !== counts[index - 1]?.count);
});

const pageSize = 1_000;

export const historyFile = (plans: RolePlans["Service"], guild: ScopedGuild) =>
  pagedCsv(
    ["at", "chatId", "roleId", "change", "because"],
    (last: KeptRoleChange | null) => plans.roleHistory(guild, last?.number ?? null, pageSize),
    ({ at, chatId, roleId, change, because }) => [formatTimestamp(at), chatId, roleId, change, because],
  );
