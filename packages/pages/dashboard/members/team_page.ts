/** The members of an account. Owners add, change and remove them; everyone can leave. */
import { allows, type Member, type MemberRole, maxMembers } from "@accountlink/core/accounts";
import type { ParameterProblem } from "@accountlink/core/errors";
import type { ChatProfile } from "@accountlink/core/platforms";
import { type Html, html } from "../../html.ts";
import { copyable } from "../look/copyable.ts";
import { csrfField, problemSummary, radioField, textField } from "../look/field.ts";
import { timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { paths } from "../paths.ts";

export const roles: Readonly<Record<MemberRole, { readonly label: string; readonly hint: string }>> = {
  owner: { label: "Owner", hint: "Everything, the team included" },
  admin: { label: "Admin", hint: "Everything but the team" },
  moderator: {
    label: "Moderator",
    hint: "Finds, links and unlinks users, sees what happened to them, and reviews alts",
  },
};

interface NamedMember extends Member {
  readonly profile: ChatProfile | null;
}

export interface TeamView {
  /** The members of the account, starting with the one who joined first. */
  readonly members: ReadonlyArray<NamedMember>;
  readonly me: string;
  /** The URL at which members sign in to the dashboard. */
  readonly signInUrl: string;
}

export interface NewMember {
  readonly who: string;
  readonly role: string;
}

export const emptyNewMember: NewMember = { who: "", role: "moderator" };

export interface RefusedTeam {
  readonly status: number;
  readonly problems: ReadonlyArray<ParameterProblem>;
  /** An error message about the whole form; null if every message concerns a field. */
  readonly general: string | null;
}

const labels = { who: "Who", role: "Role" };

/**
 * @param notice the result of the last action, or null
 * @param refused why a submitted form was refused; null if none was refused
 */
export const teamPage = (
  view: TeamView,
  form: NewMember,
  visitor: Pick<Visitor, "account" | "csrf" | "platforms" | "role">,
  notice: Html | null,
  refused: RefusedTeam | null,
): Page => ({
  status: refused?.status ?? 200,
  title: "Team",
  section: "team",
  content: html`
${refused === null ? notice : problemSummary(refused.problems, labels, refused.general)}
<p>Who may use the dashboard as <strong>${visitor.account.name}</strong>.</p>
<ul class="cards" role="list">${view.members.map((member) => memberCard(member, view, visitor))}</ul>
${allows(visitor.role, "owner") ? addSection(view, form, visitor, refused?.problems ?? []) : null}`,
});

const nameOf = ({ chatId, profile }: NamedMember): string =>
  profile?.displayName ?? profile?.username ?? `User ${chatId}`;

const memberCard = (
  member: NamedMember,
  { me }: TeamView,
  { csrf, role }: Pick<Visitor, "csrf" | "role">,
): Html => {
  const { chatId, profile, since } = member;
  const isMe = chatId === me;
  const acts = html`${csrfField(csrf)}<input type="hidden" name="chatId" value="${chatId}">`;
  return html`
<li>
<h2>${nameOf(member)}${isMe ? html` <span class="badge">You</span>` : null}</h2>
<p><small>${(profile?.username ?? null) === null ? null : `@${profile?.username} · `}${chatId}</small></p>
<p><strong>${roles[member.role].label}</strong> since ${timeHtml(since)}</p>
${
  allows(role, "owner")
    ? html`
<details>
<summary>Change<span class="unseen"> the role of ${nameOf(member)}</span></summary>
<form method="post" action="${paths.teamRole}">
${acts}
${roleField(`role-${chatId}`, member.role, [])}
<p class="row"><button class="button quiet small">Save the role</button></p>
</form>
</details>`
    : null
}
${
  isMe || allows(role, "owner")
    ? html`
<details>
<summary class="bad">${isMe ? "Leave" : "Remove"}<span class="unseen"> ${isMe ? "the team" : nameOf(member)}</span></summary>
<form method="post" action="${paths.teamRemove}">
${acts}
<p>${isMe ? "You are" : `${nameOf(member)} is`} signed out at once. An owner can add ${isMe ? "you" : "them"} again.</p>
<p class="row"><button class="button bad small">${isMe ? "Leave the team" : "Remove from the team"}</button></p>
</form>
</details>`
    : null
}
</li>`;
};

const roleField = (name: string, value: string, problems: ReadonlyArray<ParameterProblem>): Html =>
  radioField({
    name,
    label: labels.role,
    value,
    problems,
    choices: Object.entries(roles).map(([role, texts]) => ({ value: role, ...texts })),
  });

const addSection = (
  { members, signInUrl }: TeamView,
  form: NewMember,
  { csrf, platforms }: Pick<Visitor, "csrf" | "platforms">,
  problems: ReadonlyArray<ParameterProblem>,
): Html => html`
<section>
<h2>Add to the team</h2>
${
  members.length >= maxMembers
    ? html`<p>A team has at most ${maxMembers} people.</p>`
    : html`
<form method="post" action="${paths.teamAdd}" class="panel">
${csrfField(csrf)}
${textField({ name: "who", label: labels.who, hint: `User name or ID on ${platforms.chat}. A name is found if they are in one of your communities.`, value: form.who, required: true, problems })}
${roleField("role", form.role, problems)}
<button class="button">Add to the team</button>
</form>`
}
<p class="more">They sign in here with their account on ${platforms.chat}; nobody sends them a message:</p>
${copyable("sign-in-url", "address", signInUrl)}
</section>`;
