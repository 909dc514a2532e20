/** The members of an account. Owners add, change and remove them; everyone can leave. */
import { allows, hasAccepted, type Member, type MemberRole, maxMembers } from "@accountlink/core/accounts";
import type { ChatId } from "@accountlink/core/ids";
import type { ChatProfile, ChatUser } from "@accountlink/core/platforms";
import { formTo, type Html, hiddenFields, html, section } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { marksOf } from "../form_values.ts";
import { copyable } from "../look/copyable.ts";
import { buttonsOr, checksField, panelTo, radioField, textField } from "../look/field.ts";
import { communityName, listText, platforms, userNameHtml } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { say, separated, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { paths } from "../paths.ts";

const allRoles: ReadonlyArray<MemberRole> = ["owner", "admin", "moderator"];

interface NamedMember extends Member {
  readonly profile: ChatProfile | null;
}

export interface TeamView {
  readonly communities: ReadonlyArray<Community>;
  /** The members of the account, starting with the one who joined first. */
  readonly members: ReadonlyArray<NamedMember>;
  readonly me: string;
  /** Null unless the form of a member was refused. */
  readonly changed: ChangedMember | null;
  readonly signInUrl: string;
}

export interface NewMember {
  readonly who: string;
  readonly role: string;
  /** The pids of the ticked communities; null for all. */
  readonly scopes: ReadonlyArray<string> | null;
}

export interface ChangedMember extends Pick<Member, "chatId" | "role">, Pick<NewMember, "scopes"> {
  /** What the form showed before. */
  readonly shown: string;
}

export const emptyNewMember: NewMember = { who: "", role: "moderator", scopes: null };

const labels = { who: say("team.who"), role: say("team.role"), scopes: say("team.scopes") };

export const teamPage = (
  view: TeamView,
  form: NewMember,
  visitor: Pick<Visitor, "role"> & { readonly title: string | Html },
  refused: Refused | null,
): Page => ({
  title: say("menu.team"),
  section: "team",
  refused,
  labels:
    view.changed === null
      ? labels
      : { [`role-${view.changed.chatId}`]: labels.role, [`scopes-${view.changed.chatId}`]: labels.scopes },
  content: html`
<p>${say("team.intro", { b: tags.b, account: visitor.title })}</p>
<p>${say("team.closes", { platform: platforms.chat })}</p>
<ul class="cards" role="list">${view.members.map((member) => memberCard(member, view, visitor))}</ul>
${allows(visitor.role, "owner") ? addSection(view, form) : null}`,
});

const nameOf = ({ chatId, profile }: NamedMember): string | Html =>
  profile?.displayName ?? profile?.username ?? say("alts.user", { id: chatId });

const memberCard = (
  member: NamedMember,
  { me, members, communities, changed }: TeamView,
  { role }: Pick<Visitor, "role">,
): Html => {
  const { chatId, profile } = member;
  const isMe = chatId === me;
  const owners = members.filter((each) => each.role === "owner" && hasAccepted(each));
  const isOnlyOwner = isMe && member.role === "owner" && owners.length === 1;
  const isChanged = changed?.chatId === chatId;
  const shown = isChanged ? changed : member;
  const marks = marksOf({
    [`role-${chatId}`]: member.role,
    [`of-${chatId}`]: member.scopes === null ? "all" : "some",
    [`scopes-${chatId}`]: communities
      .map(({ scope }) => scope.pid)
      .filter((pid) => member.scopes?.includes(pid)),
  });
  return html`
<li>
<h2>${nameOf(member)}${isMe ? html` <span class="badge">${say("team.you")}</span>` : null}</h2>
<p><small>${userNameHtml(profile?.username ?? null, chatId)}</small></p>
<p>${memberText(member, communities)}</p>
${
  allows(role, "owner") &&
  !isOnlyOwner &&
  html`
<details${isChanged && html` open`}>
<summary>${say("team.change", { unseen: tags.unseen, name: nameOf(member) })}</summary>
${formTo(paths.teamRole, { chatId, shown: isChanged ? changed.shown : marks })`
${roleField(`role-${chatId}`, shown.role)}
${scopesField(`-${chatId}`, shown.scopes, communities)}
<p class="row"><button class="button quiet small">${say("team.save")}</button></p>`}
</details>`
}
${(isMe || allows(role, "owner")) && removalHtml(member, isMe, isOnlyOwner)}
</li>`;
};

const memberText = (member: NamedMember, communities: ReadonlyArray<Community>): Html => {
  const { role, scopes, since } = member;
  const said = { b: tags.b, role: say(`team.label.${role}`), time: timeHtml(since) };
  const state = hasAccepted(member) ? "member" : "invited";
  return scopes === null
    ? say(`team.${state}`, said)
    : say(`team.${state}_of`, { ...said, lists: scopesText(scopes, communities) });
};

/** Asks an owner before the own role changes, since only another owner can give it back. */
export const ownRolePage = (
  chatId: ChatId,
  role: MemberRole,
  scopes: ReadonlyArray<string> | null,
): Page => ({
  title: say(role === "moderator" ? "team.become.moderator" : "team.become.admin"),
  section: "team",
  content: html`
<p>${say("team.less", { b: tags.b, role: say(`team.label.${role}`) })}</p>
<p>${say("field.problem", { reason: say(`team.hint.${role}`) })}</p>
<p>${say("team.only_owner")}</p>
${formTo(paths.teamRole, {
  chatId,
  [`role-${chatId}`]: role,
  ...scopesFields(`-${chatId}`, scopes),
  confirm: "yes",
})`
${buttonsOr(html`<button class="button bad">${say("team.give_up")}</button>`, paths.team, say("team.stay"))}`}`,
});

/** Asks before somebody becomes an owner, because owners can take every right from the others. */
export const newOwnerPage = (chatId: ChatId, name: string | Html): Page => ({
  title: say("team.make_owner.ask", { name }),
  section: "team",
  content: html`
<p>${say("team.owner_warning")} ${say("team.make_owner.text", { name })}</p>
${formTo(paths.teamRole, { chatId, [`role-${chatId}`]: "owner", confirm: "yes" })`
${buttonsOr(html`<button class="button bad">${say("team.make_owner", { name })}</button>`, paths.team)}`}`,
});

const removalHtml = (member: NamedMember, isMe: boolean, isOnlyOwner: boolean): Html => {
  const act = isMe ? "leave" : hasAccepted(member) ? "remove" : "withdraw";
  const values = { unseen: tags.unseen, name: nameOf(member) };
  return html`
<details>
<summary class="bad">${say(`team.${act}`, values)}</summary>
${
  isOnlyOwner
    ? html`<p>${say("conflict.last_owner")}</p>`
    : formTo(paths.teamRemove, { chatId: member.chatId })`
<p>${say(`team.${act}.effect`, values)}</p>
<p class="row"><button class="button bad small">${say(`team.${act}.button`)}</button></p>`
}
</details>`;
};

const roleField = (name: string, value: string): Html =>
  radioField({
    name,
    label: labels.role,
    value,
    choices: allRoles.map((role) => ({
      value: role,
      label: say(`team.label.${role}`),
      hint: say(`team.hint.${role}`),
    })),
  });

/** The hidden fields of a choice of communities. */
const scopesFields = (suffix: string, scopes: ReadonlyArray<string> | null) => ({
  [`of${suffix}`]: scopes === null ? "all" : "some",
  [`scopes${suffix}`]: scopes?.join(",") ?? "",
});

/** Lets an owner choose communities for a moderator or an admin, if there are several. */
const scopesField = (
  suffix: string,
  scopes: ReadonlyArray<string> | null,
  communities: ReadonlyArray<Community>,
): Html =>
  communities.length < 2
    ? hiddenFields(scopesFields(suffix, scopes))
    : html`
<div class="of">
${radioField({
  name: `of${suffix}`,
  label: labels.scopes,
  value: scopes === null ? "all" : "some",
  choices: [
    { value: "all", label: say("team.scopes.all") },
    { value: "some", label: say("team.scopes.some") },
  ],
})}
${checksField({
  name: `scopes${suffix}`,
  label: say("team.scopes.ticked"),
  hint: say("team.scopes.hint"),
  values: scopes ?? [],
  choices: communities.map((one) => ({ value: one.scope.pid, label: communityName(one) })),
})}
</div>`;

const scopesText = (scopes: ReadonlyArray<string>, communities: ReadonlyArray<Community>): Html =>
  separated(communities.filter(({ scope }) => scopes.includes(scope.pid)).map(listText), ", ");

const addSection = (view: TeamView, form: NewMember): Html => {
  const { members, communities, signInUrl } = view;
  return section(say("team.invite_section"))`
${
  members.length >= maxMembers
    ? html`<p>${say("team.full", { most: numberHtml(maxMembers) })}</p>`
    : panelTo(paths.teamAdd)`
${textField({
  name: "who",
  label: labels.who,
  hint: say("team.who.hint", { platform: platforms.chat }),
  value: form.who,
  required: true,
})}
${roleField("role", form.role)}
${scopesField("", form.scopes, communities)}
<button class="button">${say("team.next")}</button>`
}
<p class="more">${say("team.sign_in", { platform: platforms.chat })}</p>
${copyable("sign-in-url", say("team.copy", { unseen: tags.unseen }), signInUrl)}`;
};

export interface Invitee {
  readonly chatId: ChatId;
  readonly user: ChatUser;
  readonly role: MemberRole;
  readonly scopes: ReadonlyArray<string> | null;
  readonly communities: ReadonlyArray<Community>;
}

/** Shows the user that an owner is about to invite. */
export const invitePage = (
  { chatId, user, role, scopes, communities }: Invitee,
  account: string | Html,
): Page => {
  const username = user.username ?? chatId;
  const name = user.displayName ?? username;
  const asked = {
    b: tags.b,
    name,
    username: userNameHtml(username, null),
    id: chatId,
    account,
    role: say(`team.label.${role}`),
  };
  return {
    title: say("team.invite", { name }),
    section: "team",
    content: html`
<p>${
      scopes === null
        ? say("team.invite.text", asked)
        : say("team.invite.text_of", { ...asked, lists: scopesText(scopes, communities) })
    }</p>
<p>${role === "owner" ? say("team.owner_warning") : say("field.problem", { reason: say(`team.hint.${role}`) })}</p>
${formTo(paths.teamAdd, { chatId, role, ...scopesFields("", scopes) })`
${buttonsOr(html`<button class="button">${say("team.invite.button", { name })}</button>`, paths.team)}`}`,
  };
};
