/** The members of an account. Owners add, change and remove them; everyone can leave. */
import { allows, hasAccepted, type Member, type MemberRole, maxMembers } from "@accountlink/core/accounts";
import type { ChatId } from "@accountlink/core/ids";
import type { ChatProfile, ChatUser } from "@accountlink/core/platforms";
import { formTo, type Html, html, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { copyable } from "../look/copyable.ts";
import { checksField, hiddenFields, radioField, textField } from "../look/field.ts";
import { listName, listText } from "../look/names.ts";
import type { Problem } from "../look/reasons.ts";
import type { Refused } from "../look/refused.ts";
import { timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { paths } from "../paths.ts";
import { ownerWarning } from "./new_owner_page.ts";

export const roles: Readonly<Record<MemberRole, { readonly label: string; readonly hint: string }>> = {
  owner: { label: "Owner", hint: "Everything, the team included" },
  admin: {
    label: "Admin",
    hint: "Everything but the team. New keys and webhooks of a community, and its roles, also need the right to manage that community",
  },
  moderator: {
    label: "Moderator",
    hint: "Finds, links and unlinks users, sees what happened to them, and reviews alts",
  },
};

interface NamedMember extends Member {
  readonly profile: ChatProfile | null;
}

export interface TeamView {
  /** The communities of the account that the visitor sees. */
  readonly communities: ReadonlyArray<Community>;
  /** The members of the account, starting with the one who joined first. */
  readonly members: ReadonlyArray<NamedMember>;
  readonly me: string;
  /** The URL at which members sign in to the dashboard. */
  readonly signInUrl: string;
}

export interface NewMember {
  readonly who: string;
  readonly role: string;
  /** The pids of the ticked communities; none for all. */
  readonly scopes: ReadonlyArray<string>;
}

export const emptyNewMember: NewMember = { who: "", role: "moderator", scopes: [] };

const labels = { who: "Who", role: "Role", scopes: "Only for" };

/** @param refused why a submitted form was refused; null if none was refused */
export const teamPage = (
  view: TeamView,
  form: NewMember,
  visitor: Pick<Visitor, "platforms" | "role"> & { readonly title: string },
  refused: Refused | null,
): Page => ({
  title: "Team",
  section: "team",
  refused,
  labels,
  content: html`
<p>Who may use the dashboard as <strong>${visitor.title}</strong>.</p>
<ul class="cards" role="list">${view.members.map((member) => memberCard(member, view, visitor))}</ul>
${allows(visitor.role, "owner") ? addSection(view, form, visitor, refused?.problems ?? []) : null}`,
});

const nameOf = ({ chatId, profile }: NamedMember): string =>
  profile?.displayName ?? profile?.username ?? `User ${chatId}`;

const memberCard = (
  member: NamedMember,
  { me, communities }: TeamView,
  { role }: Pick<Visitor, "role">,
): Html => {
  const { chatId, profile, since } = member;
  const isMe = chatId === me;
  const isMember = hasAccepted(member);
  const removal = removalOf(member, isMe);
  const acts = hiddenFields({ chatId });
  return html`
<li>
<h2>${nameOf(member)}${isMe ? html` <span class="badge">You</span>` : null}</h2>
<p><small>${(profile?.username ?? null) === null ? null : `@${profile?.username} · `}${chatId}</small></p>
<p><strong>${roles[member.role].label}</strong>${member.scopes && html` of ${scopesText(member.scopes, communities)}`} ${isMember ? "since" : "invited"}
${timeHtml(since)}${isMember ? null : ". Not accepted yet."}</p>
${
  allows(role, "owner")
    ? html`
<details>
<summary>Change<span class="unseen"> the role of ${nameOf(member)}</span></summary>
${formTo(paths.teamRole)}
${acts}
${roleField(`role-${chatId}`, member.role, [])}
${scopesField(`scopes-${chatId}`, member.scopes ?? [], communities, [])}
<p class="row"><button class="button quiet small">Save the role</button></p>
</form>
</details>`
    : null
}
${
  isMe || allows(role, "owner")
    ? html`
<details>
<summary class="bad">${removal.act}<span class="unseen"> ${removal.what}</span></summary>
${formTo(paths.teamRemove)}
${acts}
<p>${removal.effect}</p>
<p class="row"><button class="button bad small">${removal.button}</button></p>
</form>
</details>`
    : null
}
</li>`;
};

/** Asks an owner before the own role changes, since only another owner can give it back. */
export const ownRolePage = (chatId: ChatId, role: MemberRole, scopes: ReadonlyArray<string>): Page => ({
  title: `Become ${role === "moderator" ? "a moderator" : "an admin"}?`,
  section: "team",
  content: html`
<p>You are an owner of this account. As <strong>${roles[role].label}</strong> you can do less:</p>
<p>${roles[role].hint}.</p>
<p>Only another owner can make you an owner again.</p>
${formTo(paths.teamRole)}
${hiddenFields({ chatId, [`role-${chatId}`]: role, [`scopes-${chatId}`]: scopes.join(","), confirm: "yes" })}
<p class="row"><button class="button bad">Give up the role</button> <a class="button quiet" href="${to(paths.team)}">Stay an owner</a></p>
</form>`,
});

const removalOf = (member: NamedMember, isMe: boolean) => {
  const name = nameOf(member);
  if (isMe) {
    const effect =
      "You are signed out at once, and can open nothing of this account any more. Only an owner can invite you again.";
    return { act: "Leave", what: "the team", effect, button: "Leave the team" };
  }
  const again = "An owner can invite them again.";
  return hasAccepted(member)
    ? {
        act: "Remove",
        what: name,
        effect: `${name} is signed out at once. ${again}`,
        button: "Remove from the team",
      }
    : {
        act: "Withdraw",
        what: `the invitation of ${name}`,
        effect: again,
        button: "Withdraw the invitation",
      };
};

const roleField = (name: string, value: string, problems: ReadonlyArray<Problem>): Html =>
  radioField({
    name,
    label: labels.role,
    value,
    problems,
    choices: Object.entries(roles).map(([role, texts]) => ({ value: role, ...texts })),
  });

/** Lets an owner choose communities for a moderator or an admin, if there are several. */
const scopesField = (
  name: string,
  values: ReadonlyArray<string>,
  communities: ReadonlyArray<Community>,
  problems: ReadonlyArray<Problem>,
): Html | null =>
  communities.length < 2
    ? null
    : checksField({
        name,
        label: labels.scopes,
        hint: "A moderator or an admin of the ticked communities sees nothing of the others. All, if none is ticked; an owner is of all.",
        values,
        problems,
        choices: communities.map((one) => ({ value: one.scope.pid, label: listName(one) })),
      });

const scopesText = (scopes: ReadonlyArray<string>, communities: ReadonlyArray<Community>): Html =>
  html`${communities
    .filter(({ scope }) => scopes.includes(scope.pid))
    .map((one, index) => html`${index === 0 ? "" : ", "}${listText(one)}`)}`;

const addSection = (
  { members, communities, signInUrl }: TeamView,
  form: NewMember,
  { platforms }: Pick<Visitor, "platforms">,
  problems: ReadonlyArray<Problem>,
): Html => html`
<section>
<h2>Invite to the team</h2>
${
  members.length >= maxMembers
    ? html`<p>A team has at most ${maxMembers} people.</p>`
    : html`
${formTo(paths.teamAdd, html` class="panel"`)}
${textField({
  name: "who",
  label: labels.who,
  hint: `User name or ID on ${platforms.chat}. A name is found if they are in one of your communities.`,
  value: form.who,
  required: true,
  problems,
})}
${roleField("role", form.role, problems)}
${scopesField("scopes", form.scopes, communities, problems)}
<button class="button">Next: see who it is</button>
</form>`
}
<p class="more">They sign in here with their account on ${platforms.chat} and accept; nobody sends them a message:</p>
${copyable("sign-in-url", "address", signInUrl)}
</section>`;

export interface Invitee {
  readonly chatId: ChatId;
  readonly user: ChatUser;
  readonly role: MemberRole;
  readonly scopes: ReadonlyArray<string>;
  readonly communities: ReadonlyArray<Community>;
}

/** Shows whom an owner is about to invite. */
export const invitePage = ({ chatId, user, role, scopes, communities }: Invitee, account: string): Page => {
  const name = user.displayName ?? user.username;
  return {
    title: `Invite ${name}?`,
    section: "team",
    content: html`
<p>Invite <strong>${name}</strong> (@${user.username}, ID ${chatId}) to <strong>${account}</strong> as
<strong>${roles[role].label}</strong>${scopes.length === 0 ? null : html` of ${scopesText(scopes, communities)} alone`}?</p>
<p>${role === "owner" ? ownerWarning : `${roles[role].hint}.`}</p>
${formTo(paths.teamAdd)}
${hiddenFields({ chatId, role, scopes: scopes.join(",") })}
<p class="row"><button class="button">Invite ${name}</button> <a class="button quiet" href="${to(paths.team)}">Cancel</a></p>
</form>`,
  };
};
