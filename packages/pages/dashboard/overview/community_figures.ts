/** The part of the overview about communities: linked members, links of this week by their proof, and the rules. */
import type { VerifiedWeeks } from "@accountlink/core/owners";
import { areNone, givesSomething, type RoleChanges } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html, section, to } from "../../html.ts";
import { wayLabels } from "../communities/ways_section.ts";
import { communityName, countNote, countText } from "../look/names.ts";
import { progressText } from "../look/progress.ts";
import { linkTo, say, separated, tags } from "../look/say.ts";
import { agoHtml, numberHtml } from "../look/time.ts";
import { communityPath, paths, rolesPath, withQuery } from "../paths.ts";
import type { OverviewView } from "./overview_view.ts";

type ListFigures = OverviewView["lists"][number];

type GuildFigures = ListFigures["guilds"][number];

export const listFigures = (view: ListFigures, now: Millis): Html => {
  const { community, verified, guilds, others } = view;
  const { pid } = community.scope;
  const name = communityName(community);
  return section(html`<a href="${to(communityPath(pid))}">${name}</a>`)`
<dl class="figures">
${figure(say("overview.linked"), countText(community.links), countNote(community.links))}
${figure(say("overview.week"), countText(verified.last), verifiedNote(verified))}
</dl>
${weekWays(view)}
${guilds.map((guild) => guildHtml(view, guild, now))}
${
  others > 0 &&
  html`<p class="more"><a href="${to(rolesPath(pid))}">${say("overview.more_communities", { count: others })}</a></p>`
}`;
};

export const figure = (label: string | Html, value: string | Html, note: string | Html | null = null): Html =>
  html`<div><dt>${label}${note !== null && html` <small>${note}</small>`}</dt><dd>${value}</dd></div>`;

const verifiedNote = ({ last, before }: VerifiedWeeks): Html | null =>
  before.age === null ? countNote(last) : (countNote(last) ?? changeText(last.count, before.count));

export const changeText = (now: number, before: number): Html => {
  if (before === 0) return say("overview.change.none");
  const percent = Math.round((100 * (now - before)) / before);
  return percent === 0
    ? say("overview.change.same")
    : say("overview.change", { percent: html`${percent > 0 ? "+" : "−"}${numberHtml(Math.abs(percent))}` });
};

/** Says in which ways the links of the week were confirmed. */
const weekWays = ({ ways }: ListFigures): Html | null => {
  if (ways === null) return html`<p class="hint">${say("overview.counting")}</p>`;
  const counts = wayLabels.flatMap(([way, label]) => {
    const count = ways.lastWeek.get(way) ?? 0;
    return count === 0 ? [] : [say("overview.way", { way: label, count: numberHtml(count) })];
  });
  return counts.length === 0
    ? null
    : html`<p class="figure">${say("overview.ways", { ways: separated(counts, " · ") })}</p>`;
};

const guildHtml = (view: ListFigures, guild: GuildFigures, now: Millis): Html => html`
<p class="figure">${membersText(guild)} ${rulesText(view, guild, now)} ${weekText(guild.changes)}</p>`;

/** Says what the rules did this week; null if they did nothing. */
const weekText = (changes: RoleChanges): Html | null =>
  areNone(changes)
    ? null
    : say("overview.rules.week", {
        given: numberHtml(changes.rolesGiven),
        taken: numberHtml(changes.rolesTaken),
        nicknames: numberHtml(changes.nicknamesSet),
      });

const membersText = ({ guildId, name, members }: GuildFigures): Html => {
  if ("reason" in members)
    return say("overview.members.unknown", { community: name, reason: members.reason });
  if ("reading" in members)
    return say("overview.members.reading", { community: name, progress: progressText(members.reading) });
  const { linked, total } = members;
  const missing = total - linked;
  const here = { b: tags.b, linked: numberHtml(linked), total: numberHtml(total), community: name };
  if (missing === 0) return say("overview.members.all", here);
  return say("overview.members", {
    ...here,
    missing: numberHtml(missing),
    a: linkTo(withQuery(paths.unlinked, { guildId })),
  });
};

const rulesText = (
  { community: { scope } }: ListFigures,
  { guildId, name, plan, status: { pending, sweptAt, sweep } }: GuildFigures,
  now: Millis,
): Html => {
  const link = {
    a: linkTo(withQuery(rolesPath(scope.pid), { guildId })),
    unseen: tags.unseen,
    community: name,
  };
  if (plan === null || !givesSomething(plan)) return say("overview.rules.none", link);
  if (plan.state === "paused") return say("overview.rules.off", link);
  const compared =
    sweep !== null
      ? say("overview.rules.sweep", { ...link, progress: progressText(sweep) })
      : sweptAt === null
        ? say("overview.rules.on", link)
        : say("overview.rules.swept", { ...link, ago: agoHtml(now - sweptAt) });
  return pending === 0 ? compared : html`${compared} ${say("overview.rules.pending", { count: pending })}`;
};
