/** The page of a community's role plan: its progress and problems, its rules, and a preview for one member. */
import type { GuildId } from "@accountlink/core";
import {
  mostRules,
  nicknameOf,
  type PlanDetails,
  planVersion,
  type RuleKindName,
} from "@accountlink/core/roles";
import { formTo, type Html, html, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { whyPaused } from "../communities/troubles.ts";
import { textField } from "../look/field.ts";
import { type AccountNames, communityName, guildText } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { remedy, roleName } from "../look/remedies.ts";
import { tableHtml } from "../look/table.ts";
import { counted, numberText, timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { communityPath, rolesPath, userPath } from "../paths.ts";
import { linkingSection, type Rival, rivalNotice } from "./guild_pages.ts";
import { changesText, obstacles, type RolePreview } from "./member_preview.ts";
import { type NicknamesView, nicknamesSection } from "./nicknames_section.ts";
import { type RanksView, ranksFields } from "./ranks_fields.ts";
import { isNewPlan, type RolesForm, roleFormLabels } from "./role_form.ts";
import { bypassField, ruleFieldset, thingHint } from "./rule_fieldset.ts";
import type { Thing } from "./rule_sentence.ts";

export interface RolesView extends RanksView {
  readonly community: Community;
  readonly guildId: GuildId;
  /** Whether the form differs from the stored rules. */
  readonly isTyped: boolean;
  /** Whether the bot's commands work for the guild with this list, also while its rules are paused. */
  readonly isHome: boolean;
  /** The name of the guild; null if the platform did not report it. */
  readonly guildName: string | null;
  readonly details: PlanDetails;
  /** The groups and items in the form, by `thingKey`; null if the game platform knows none with this ID. */
  readonly things: ReadonlyMap<string, Thing | null>;
  /** The kinds of rules that the game platform has what they need for. */
  readonly kinds: ReadonlyArray<RuleKindName>;
  /** The kinds of items that the game platform has. */
  readonly itemKinds: ReadonlyArray<string>;
  /** The names of members with problems, if the platform knows them. */
  readonly names: AccountNames["chats"];
  readonly preview: RolePreview | null;
  /** The page where owners try the commands of the bot as a member; null on platforms for real members. */
  readonly tryUrl: string | null;
  /** Where other rules for this guild are on; null if none are. */
  readonly rival: Rival | null;
  readonly nicknames: NicknamesView;
}

type Shown = Pick<Visitor, "platforms">;

/** @param refused why a submitted form was refused; null if none was refused */
export const rolesPage = (
  view: RolesView,
  form: RolesForm,
  visitor: Shown,
  refused: Refused | null,
): Page => {
  const { community, details } = view;
  const isEmpty = isNewPlan(details.plan);
  const isNew = isEmpty && !view.isHome;
  return {
    title: `Roles and names of ${nameOf(view)} by ${community.scope.kind === "global" ? "the shared list" : "its own list"}`,
    section: "communities",
    refused,
    labels: roleFormLabels,
    ...(details.status.sweep === null || view.isTyped ? {} : { refreshSeconds: 5 }),
    content: html`
<p>The bot gives members of ${nameOf(view)} their roles and nicknames on ${visitor.platforms.chat} when they link their
accounts, and takes them back when a link goes. Roles that no rule names are never touched.
<a href="${to(communityPath(community.scope.pid))}">Back to ${communityName(community)}</a></p>
${isNew ? null : statusSection(view)}
${isEmpty ? linkingSection(view, action(view)) : null}
${isNew ? null : html`<div data-live>${problemsSection(view, visitor)}</div>`}
${rivalNotice(view)}
${planSection(view, form, visitor, refused)}
${isNew ? null : html`${previewSection(view, visitor, refused)}${nicknamesSection(view.nicknames, details)}${removeSection(view)}`}`,
  };
};

const nameOf = ({ guildName, guildId }: RolesView): string => guildText(guildId, guildName);

const hidden = ({ guildId }: RolesView): Html =>
  html`<input type="hidden" name="guildId" value="${guildId}">`;

const action = ({ community }: RolesView): string => rolesPath(community.scope.pid);

const statusSection = (view: RolesView): Html => {
  const { plan, status } = view.details;
  const { sweep, pending, sweptAt } = status;
  return html`
<section data-live="${sweep === null ? 10 : 2}">
<h2>${plan.state === "on" ? html`<span class="badge good">On</span>` : html`<span class="badge">Paused</span>`}</h2>
${
  plan.state === "paused"
    ? html`<p>${pauseText(view)} Nobody gets or loses a role or nickname until you turn the rules on. ${
        view.isHome ? html`Linking goes on: members type <code>/verify</code>, and the panel works.` : null
      }</p>`
    : html`
<p>Members type <code>/verify</code>, and managers <code>/panel</code> to post a button.${
        view.tryUrl === null ? null : html` <a href="${to(view.tryUrl)}">Try it as a member</a>`
      }</p>
<p>${plan.unlinked === "keep" ? "Members who never linked keep their roles. " : null}${pending === 0 ? "No member waits for a change." : `${counted(pending, "member")} will be compared again soon.`}${sweptAt === null ? null : html` All members were compared last at ${timeHtml(sweptAt)}.`}</p>
${
  sweep === null
    ? html`${formTo(action(view))}${hidden(view)}<p class="row"><button class="button quiet" name="act" value="sweep">Apply to everyone now</button></p></form>`
    : html`<p>${sweep.after === null ? "Comparing everyone" : "Changing who differs"}: ${numberText(sweep.done)}${sweep.total === 0 ? null : ` of ${numberText(sweep.total)} members`}. <progress${sweep.total === 0 ? null : html` max="${sweep.total}" value="${Math.min(sweep.done, sweep.total)}"`} aria-label="Compared members"></progress></p>`
}`
}
</section>`;
};

/** Says why the rules are paused, if that is known. */
const pauseText = ({ details: { community } }: RolesView): Html | null => {
  if (community.paused === null) return null;
  const { at, why, by } = community.paused;
  if (why !== null) return html`This service paused them at ${timeHtml(at)}, because ${whyPaused[why]}.`;
  return by === null ? null : html`They were paused at ${timeHtml(at)}.`;
};

const problemsSection = (view: RolesView, visitor: Shown): Html | null => {
  const { problems } = view.details.status;
  const { pid } = view.community.scope;
  if (problems.length === 0) return null;
  return html`
<section>
<h2>Problems</h2>
<p>They are tried again when everyone is compared: once a day, or when you apply the rules to everyone.</p>
${tableHtml({
  id: "problems",
  caption: "What the bot could not change",
  columns: ["Member", "What", "What you can do", "Since"],
  rows: problems.map((problem) => [
    problem.chatId === null
      ? "Everyone"
      : html`<a href="${to(userPath(pid, problem.chatId))}">${view.names.get(problem.chatId) ?? problem.chatId}</a>`,
    problem.reason === "log_channel_closed"
      ? "Log"
      : problem.reason === "members_hidden"
        ? "All roles"
        : problem.roleId === null
          ? "Nickname"
          : roleName(view, problem.roleId),
    remedy(view, problem, visitor.platforms),
    timeHtml(problem.at),
  ]),
})}
</section>`;
};

const planSection = (view: RolesView, form: RolesForm, visitor: Shown, refused: Refused | null): Html => {
  const problems = refused?.problems ?? [];
  const isOn = view.details.plan.state === "on";
  return html`
<section>
<h2>Rules</h2>
${formTo(action(view), html` class="panel" data-guarded="${view.isTyped ? "changed" : ""}"`)}
${hidden(view)}
<input type="hidden" name="rows" value="${form.rules.length}">
<input type="hidden" name="unlinked" value="${form.unlinked}">
<input type="hidden" name="seen" value="${planVersion(view.details.plan)}">
${form.rules.map((rule, i) => ruleFieldset(view, rule, [i + 1, form.rules.length], visitor, problems))}
${
  form.rules.length < mostRules
    ? html`<p class="row"><button class="button quiet small" name="act" value="add">${
        form.rules.length === 0 ? "Add a rule" : "Add another rule"
      }</button></p>${hasGroups(view) ? ranksFields(view, form, visitor, problems) : null}`
    : null
}
${textField({
  name: "nickname",
  label: "Nickname of linked members without one by a rule",
  hint: html`<code>{game.displayName}</code> and <code>{game.username}</code> are the names on
    ${visitor.platforms.game}, <code>{chat.displayName}</code> and <code>{chat.username}</code> on
    ${visitor.platforms.chat}${
      hasGroups(view) ? html`, <code>{group.role}</code> is the rank in the group below` : null
    }. Empty: nicknames are left alone.${exampleOf(form.nickname)}`,
  value: form.nickname,
  maxLength: 100,
  problems,
})}
${hasGroups(view) || form.nicknameGroupId !== "" ? nicknameGroupField(view, form, visitor, problems) : null}
${bypassField(view, form, "bypassRoleIds", "Members with one of these roles keep their roles and nickname.", problems)}
${bypassField(view, form, "nicknameBypassRoleIds", "Members with one of these roles get roles, and keep their nickname.", problems)}
<p class="row">${
    view.rival && "list" in view.rival && !isOn
      ? null
      : html`<button class="button" name="act" value="on">${
          isOn ? "See what changes, then save" : "See what changes, then turn on"
        }</button>`
  } <button class="button quiet" name="act" value="paused">${
    isOn ? "Save and pause" : "Save without turning on"
  }</button></p>
</form>
</section>`;
};

/** Whether the game platform has groups. */
const hasGroups = ({ kinds }: RolesView): boolean => kinds.includes("group");

const nicknameGroupField = (
  view: RolesView,
  { nicknameGroupId }: RolesForm,
  visitor: Shown,
  problems: Refused["problems"],
): Html =>
  textField({
    name: "nicknameGroupId",
    label: "Group of the nickname",
    hint: thingHint(
      view,
      ["group", nicknameGroupId],
      visitor,
      `ID or address of the group on ${visitor.platforms.game}; only for {group.role}.`,
    ),
    value: nicknameGroupId,
    maxLength: 300,
    problems,
  });

/** Shows the nickname that the template would give to a made-up member. */
const exampleOf = (template: string): Html | null => {
  const game = { username: "ada_g", displayName: "Ada" };
  const chat = { username: "lovelace", displayName: "Lady Ada" };
  const example = nicknameOf(template, { game, chat, groupRole: "Officer" });
  return example === null
    ? null
    : html` Lady Ada, an Officer who plays as ada_g, is called <strong>${example}</strong>.`;
};

const previewSection = (view: RolesView, visitor: Shown, refused: Refused | null): Html => {
  const { preview } = view;
  return html`
<section id="preview">
<h2>Try it with one member</h2>
${formTo(`${action(view)}#preview`, html` class="panel"`)}
${hidden(view)}
${textField({
  name: "who",
  label: "Member to look at",
  hint: `User name or ID on ${visitor.platforms.chat}. Tries the saved rules, and changes nothing.`,
  value: preview?.who ?? "",
  required: true,
  problems: refused?.problems ?? [],
})}
<button class="button quiet" name="act" value="preview">Show what would change</button>
</form>
${
  !preview?.found
    ? null
    : html`<div role="status"><p><strong>${preview.who}</strong> ${changesText(view, preview.found)}</p>${obstacles(view, preview.found.changes, visitor.platforms)}</div>`
}
</section>`;
};

const removeSection = (view: RolesView): Html => html`
<details>
<summary class="bad">Delete these rules</summary>
${formTo(action(view))}
${hidden(view)}
<p>Members keep the roles and nicknames that they have.${
  view.nicknames.areKept
    ? " The list of nicknames from before is deleted: download it first, or put them back."
    : null
}</p>
<p class="row"><button class="button bad small" name="act" value="delete">Delete the rules</button></p>
</form>
</details>`;
