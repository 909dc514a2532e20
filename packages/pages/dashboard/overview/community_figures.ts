/** The part of the overview about communities: who is linked, who linked this week and how, and what the rules do. */
import type { GuildId } from "@accountlink/core";
import type { LinkWays, UnlinkedPage, VerifiedWeeks } from "@accountlink/core/owners";
import type { PlanStatus, RolePlan } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { wayLabels } from "../communities/community_page.ts";
import { type NotListed, progressText } from "../links/member_list_wait.ts";
import { communityName, countNote, countText, listName } from "../look/names.ts";
import { counted, durationText, numberText } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { communityPath, paths, rolesPath, withQuery } from "../paths.ts";

/** A guild whose members a list is for. */
export interface GuildFigures {
  readonly guildId: GuildId;
  readonly name: string;
  readonly plan: RolePlan | null;
  readonly status: PlanStatus;
  readonly members: UnlinkedPage | NotListed;
}

export interface ListFigures {
  readonly community: Community;
  readonly verified: VerifiedWeeks;
  /** Null while many links are being counted. */
  readonly ways: LinkWays | null;
  readonly guilds: ReadonlyArray<GuildFigures>;
  /** How many guilds of the list are not among `guilds`. */
  readonly others: number;
}

export const listFigures = (
  view: ListFigures,
  now: Millis,
  visitor: Pick<OwnerVisitor, "platforms">,
): Html => {
  const { community, verified, guilds, others } = view;
  const { pid } = community.scope;
  const name = community.scope.kind === "global" ? listName(community) : communityName(community);
  return html`
<section>
<h2><a href="${to(communityPath(pid))}">${name}</a></h2>
<dl class="figures">
${figure("Linked", countText(community.links), countNote(community.links))}
${figure("Linked or confirmed in seven days", countText(verified.last), verifiedNote(verified))}
</dl>
${weekWays(view, visitor)}
${guilds.map((guild) => guildHtml(view, guild, now))}
${
  others === 0
    ? null
    : html`<p class="more"><a href="${to(rolesPath(pid))}">${counted(others, "further community", "further communities")} of this list</a></p>`
}
</section>`;
};

export const figure = (label: string, value: string | Html, note: string | Html | null = null): Html =>
  html`<div><dt>${label}${note === null ? null : html` <small>${note}</small>`}</dt><dd>${value}</dd></div>`;

const verifiedNote = ({ last, before }: VerifiedWeeks): string | Html | null =>
  before.age === null ? countNote(last) : (countNote(last) ?? changeText(last.count, before.count));

export const changeText = (now: number, before: number): string => {
  if (before === 0) return "none the week before";
  const percent = Math.round((100 * (now - before)) / before);
  return percent === 0
    ? "as the week before"
    : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} % against the week before`;
};

/** Says in which ways the links of the week were confirmed. */
const weekWays = ({ ways }: ListFigures, { platforms }: Pick<OwnerVisitor, "platforms">): Html | null => {
  if (ways === null) return html`<p class="hint">In which ways is being counted.</p>`;
  const counts = wayLabels(platforms.chat, platforms.game).flatMap(([way, label]) => {
    const count = ways.lastWeek.get(way) ?? 0;
    return count === 0 ? [] : [`${label}: ${numberText(count)}`];
  });
  return counts.length === 0 ? null : html`<p class="figure">In seven days: ${counts.join(" · ")}</p>`;
};

const guildHtml = (view: ListFigures, guild: GuildFigures, now: Millis): Html => html`
<p class="figure">${membersText(view, guild)} ${rulesText(view, guild, now)}</p>`;

const membersText = ({ community: { scope } }: ListFigures, { name, members }: GuildFigures): Html => {
  if ("reason" in members) return html`How many members of ${name} have linked is unknown. ${members.reason}`;
  if ("reading" in members)
    return html`The members of ${name} are being read: ${progressText(members.reading)}.`;
  const { linked, total } = members;
  const missing = total - linked;
  return html`<strong>${numberText(linked)} of ${numberText(total)}</strong> members of ${name} have linked${
    missing === 0
      ? "."
      : scope.kind === "global"
        ? html`, ${numberText(missing)} have not.`
        : html`, <a href="${to(withQuery(paths.unlinked, { pid: scope.pid }))}">${numberText(missing)} have not</a>.`
  }`;
};

const rulesText = (
  { community: { scope } }: ListFigures,
  { guildId, name, plan, status: { pending, sweptAt, sweep } }: GuildFigures,
  now: Millis,
): Html => {
  const link = (text: string) =>
    html`<a href="${to(withQuery(rolesPath(scope.pid), { guildId }))}">${text}<span class="unseen"> in ${name}</span></a>`;
  if (plan === null || (plan.rules.length === 0 && plan.nickname === null))
    return html`The bot gives no roles or nicknames. ${link("Choose some")}`;
  if (plan.state === "paused") return html`The rules are off. ${link("Look at them")}`;
  const compared =
    sweep !== null
      ? `being applied to everybody: ${progressText(sweep)}`
      : sweptAt === null
        ? "on"
        : `on, and were compared with everybody ${durationText(now - sweptAt)} ago`;
  return html`${link("The rules")} are ${compared}${
    pending === 0 ? null : `; ${counted(pending, "member waits", "members wait")} for a change`
  }.`;
};
