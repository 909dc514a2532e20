/** The page of a community's role plan: its progress and problems, its rules, and a preview for one member. */

import type { GuildId } from "@accountlink/core";
import { mostRules, type PlanDetails, planVersion, type SharedProblem } from "@accountlink/core/roles";
import { formTo, type Html, html, section, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import type { ManagedGuild } from "../communities/managed_guild.ts";
import { panelTo, textField } from "../look/field.ts";
import { type AccountNames, communityName, guildText, listText, platforms } from "../look/names.ts";
import { progressBar, progressText } from "../look/progress.ts";
import type { Refused } from "../look/refused.ts";
import { remedy, roleName } from "../look/remedies.ts";
import { linkTo, say, separated, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { communityPath, paths, rolesPath, userPath, withQuery } from "../paths.ts";
import { obstacles, previewHtml, type RolePreview, whoField } from "./member_preview.ts";
import { historySection, type NicknamesView, nicknamesSection } from "./nicknames_section.ts";
import { type RanksView, ranksFields } from "./ranks_fields.ts";
import { isNewPlan, type RolesForm, roleFormLabels } from "./role_form.ts";
import {
  bypassField,
  exampleOf,
  hasGroups,
  type RuleView,
  ruleFieldset,
  thingHint,
} from "./rule_fieldset.ts";

/** Another list of the account, or another account; the account's name is null unless the visitor is a member. */
type Rival = { readonly list: Community } | { readonly account: string | Html | null };

export interface RolesView extends RanksView, RuleView, ManagedGuild {
  /** Whether the form differs from the stored rules. */
  readonly isTyped: boolean;
  /** The version of the rules that the form edits. */
  readonly seen: string;
  /** Whether the bot's commands work for the guild with this list, also while its rules are paused. */
  readonly isHome: boolean;
  readonly details: PlanDetails;
  /** The names of members with problems, if the platform knows them. */
  readonly names: AccountNames["chats"];
  readonly preview: RolePreview | null;
  /** The page where owners try the commands of the bot as a member; null on platforms for real members. */
  readonly tryUrl: string | null;
  /** Where other rules for this guild are on; null if none are. */
  readonly rival: Rival | null;
  readonly nicknames: NicknamesView;
  /** How many roles that no rule names any more are still to be taken. */
  readonly taking: number;
}

export const rolesPage = (view: RolesView, form: RolesForm, refused: Refused | null): Page => {
  const { community, details } = view;
  const isEmpty = isNewPlan(details.plan);
  const isNew = isEmpty && !view.isHome;
  return {
    title: say(community.scope.kind === "global" ? "roles.title_shared" : "roles.title_own", {
      community: nameOf(view),
    }),
    section: "communities",
    refused,
    labels: roleFormLabels,
    ...(details.status.sweep === null || view.isTyped ? {} : { refreshSeconds: 5 }),
    content: html`
<p>${say("roles.intro", { community: nameOf(view), platform: platforms.chat })}
<a href="${to(communityPath(community.scope.pid))}">${say("channels.back", { community: communityName(community) })}</a></p>
${!isNew && statusSection(view)}
${isEmpty ? linkingSection(view) : null}
${rivalNotice(view)}
${planSection(view, form)}
${!isNew && html`<div data-live>${problemsSection(view)}</div>`}
${!isNew && html`${previewSection(view)}${historySection(details.plan)}${nicknamesSection(view.nicknames, details)}${removeSection(view)}`}`,
  };
};

const nameOf = ({ guildName, guildId }: RolesView): string | Html => guildText(guildId, guildName);

/** Names the guild for the script, which loads the address of a form's answer again. */
const action = ({ community, guildId }: RolesView): string =>
  withQuery(rolesPath(community.scope.pid), { guildId });

const rivalNotice = ({ rival, guildId }: RolesView): Html | null =>
  rival && html`<div class="notice warn"><p>${rivalText(rival, guildId)}</p></div>`;

const rivalText = (rival: Rival, guildId: GuildId): Html => {
  if ("list" in rival)
    return say("roles.rival.list", {
      a: linkTo(withQuery(rolesPath(rival.list.scope.pid), { guildId })),
      list: listText(rival.list),
    });
  return rival.account === null
    ? say("roles.rival.other")
    : say("roles.rival.account", { a: linkTo(paths.chooseAccount), account: rival.account });
};

/** Lets an owner turn linking on before choosing any role. */
const linkingSection = (view: RolesView): Html | null =>
  view.rival && "list" in view.rival
    ? null
    : section(say("roles.linking"))`
${panelTo(action(view), { guildId: view.guildId, seen: planVersion(view.details.plan) })`
<p>${say("roles.linking.text", { code: tags.code })}</p>
<p class="row"><button class="button quiet" name="act" value="linking">${say("roles.linking.button")}</button></p>`}`;

const statusSection = (view: RolesView): Html => {
  const { plan, status } = view.details;
  const { sweep, pending, sweptAt } = status;
  return html`
<section data-live="${sweep === null ? 10 : 2}">
<h2>${plan.state === "on" ? html`<span class="badge good">${say("roles.state.on")}</span>` : html`<span class="badge">${say("roles.state.paused")}</span>`}</h2>
${
  plan.state === "paused"
    ? html`<p>${pauseText(view)} ${say("roles.paused.effect")} ${
        view.isHome ? say("roles.paused.linking", { code: tags.code }) : null
      }</p>`
    : html`
<p>${say("roles.commands", { code: tags.code })}${
        view.tryUrl !== null && html` <a href="${to(view.tryUrl)}">${say("channels.try")}</a>`
      }</p>
<p>${plan.unlinked === "keep" ? html`${say("roles.keep")} ` : null}${say("roles.pending", { count: pending })}${
        sweptAt !== null && html` ${say("roles.swept", { time: timeHtml(sweptAt) })}`
      }</p>
${view.taking > 0 ? html`<p>${say("roles.taking", { count: view.taking })}</p>` : null}
${
  sweep === null
    ? formTo(action(view), {
        guildId: view.guildId,
      })`<p class="row"><button class="button quiet" name="act" value="sweep">${say("roles.apply")}</button></p>`
    : html`<p>${sweepText(sweep)} ${progressBar(say("roles.compared"), sweep)}</p>`
}`
}
</section>`;
};

const sweepText = (sweep: NonNullable<PlanDetails["status"]["sweep"]>): Html => {
  if (sweep.after === null && sweep.done === 0) return say("roles.starting");
  return say(sweep.after === null ? "roles.comparing" : "roles.changing", { progress: progressText(sweep) });
};

const pauseText = ({ details: { community } }: RolesView): Html | null => {
  if (community.paused === null) return null;
  const { at, why, by } = community.paused;
  if (why !== null) return say(`roles.paused.${why}`, { time: timeHtml(at) });
  return by === null ? null : say("roles.paused.at", { time: timeHtml(at) });
};

const problemsSection = (view: RolesView): Html | null => {
  const { problems } = view.details.status;
  if (problems.length === 0) return null;
  return section(say("roles.problems"))`
<p>${say("roles.problems.text")}</p>
${tableHtml({
  id: "problems",
  caption: say("roles.problems.caption"),
  columns: [
    [say("roles.member"), (problem) => membersOf(view, problem)],
    [say("roles.problems.what"), (problem) => whatFails(view, problem)],
    [say("roles.problems.remedy"), (problem) => remedy(view, problem)],
    [say("blocks.since"), ({ at }) => timeHtml(at)],
  ],
  rows: problems,
})}`;
};

const whatFails = (view: RolesView, { reason, roleId }: SharedProblem): string | Html => {
  if (reason === "log_channel_closed") return say("channels.log");
  if (["members_hidden", "reminders_refused", "reminders_held"].includes(reason)) return say("roles.all");
  return roleId === null ? say("roles.nickname") : roleName(view, roleId);
};

/** The first members of a problem, and how many more have it. */
const membersOf = ({ names, community }: RolesView, { chatIds, count }: SharedProblem): Html => {
  if (count === 0) return say("roles.everyone");
  const shown = chatIds.slice(0, 3);
  const members = separated(
    shown.map((id) => html`<a href="${to(userPath(community.scope.pid, id))}">${names.get(id) ?? id}</a>`),
    ", ",
  );
  return count === shown.length
    ? members
    : say("roles.problems.members", { members, count: count - shown.length });
};

const planSection = (view: RolesView, form: RolesForm): Html => {
  const { plan } = view.details;
  const isOn = plan.state === "on";
  const mayTurnOn = isOn || view.rival === null || !("list" in view.rival);
  const fields = {
    guildId: view.guildId,
    rows: String(form.rules.length),
    unlinked: form.unlinked,
    seen: view.seen,
  };
  return section(say("roles.rules"))`
${formTo(action(view), fields, html` class="panel" data-guarded="${view.isTyped ? "changed" : ""}"`)`
${pressedByEnter(mayTurnOn ? "on" : "paused")}
${form.rules.map((rule, i) => ruleFieldset(view, rule, [i + 1, form.rules.length]))}
${
  form.rules.length < mostRules &&
  html`<p class="row"><button class="button quiet small" name="act" value="add">${say(
    form.rules.length === 0 ? "roles.add_rule" : "roles.add_another",
  )}</button></p>${hasGroups(view) ? ranksFields(view, form) : null}`
}
${textField({
  name: "nickname",
  label: say("roles.nickname.label"),
  hint: html`${say("roles.nickname.hint", {
    gameDisplayName: tags.code(html`{game.displayName}`),
    gameUsername: tags.code(html`{game.username}`),
    game: platforms.game,
    chatDisplayName: tags.code(html`{chat.displayName}`),
    chatUsername: tags.code(html`{chat.username}`),
    chat: platforms.chat,
  })}${hasGroups(view) ? html` ${say("roles.nickname.rank", { groupRole })}` : null}${exampleOf(form.nickname)}`,
  value: form.nickname,
  maxLength: 100,
})}
${hasGroups(view) || form.nicknameGroupId !== "" ? nicknameGroupField(view, form) : null}
${bypassField(view, form, "bypassRoleIds")}
${bypassField(view, form, "nicknameBypassRoleIds")}
<p class="row">${
  mayTurnOn &&
  html`<button class="button" name="act" value="on">${say(
    isOn ? "roles.see_then_save" : "roles.see_then_on",
  )}</button>`
} <button class="button quiet" name="act" value="paused">${say(
  isOn ? "roles.save_paused" : "roles.save_off",
)}</button></p>`}`;
};

/** Enter in a field presses the first button of a form, which would be one that changes the first rule. */
const pressedByEnter = (act: "on" | "paused"): Html =>
  html`<button class="unseen" name="act" value="${act}" tabindex="-1" aria-hidden="true"></button>`;

const groupRole = tags.code(html`{group.role}`);

const nicknameGroupField = (view: RolesView, { nicknameGroupId }: RolesForm): Html =>
  textField({
    name: "nicknameGroupId",
    label: say("roles.nickname_group"),
    hint: thingHint(
      view,
      ["group", nicknameGroupId],
      say("roles.nickname_group.hint", { platform: platforms.game, groupRole }),
    ),
    value: nicknameGroupId,
    maxLength: 300,
  });

const previewSection = (view: RolesView): Html => {
  const { preview } = view;
  return section(say("roles.try"), "preview")`
${panelTo(`${action(view)}#preview`, { guildId: view.guildId })`
<p>${say("roles.try.saved")}</p>
${whoField(preview?.who ?? "")}
<button class="button quiet" name="act" value="preview">${say("roles.try.button")}</button>`}
${
  preview !== null &&
  preview.found !== null &&
  html`<div role="status">${previewHtml(view, view.details.plan.rules, preview)}
${obstacles(view, preview.found.changes)}</div>`
}`;
};

const turnedOffHtml = ({ isHome, details: { community } }: RolesView): Html | null => {
  if (isHome) return html` ${say("roles.delete.linking")}`;
  const isSet = community.logChannelId !== null || community.remindAfterDays !== null;
  return isSet ? html` ${say("roles.delete.log")}` : null;
};

const removeSection = (view: RolesView): Html => html`
<details>
<summary class="bad">${say("roles.delete")}</summary>
${formTo(action(view), { guildId: view.guildId, seen: planVersion(view.details.plan) })`
<p>${say("roles.delete.text", { count: view.details.plan.rules.length })}${turnedOffHtml(view)}${view.nicknames.kept > 0 ? html` ${say("roles.delete.before")}` : null}</p>
<p class="row"><button class="button bad small" name="act" value="delete">${say("roles.delete.button")}</button></p>`}
</details>`;
