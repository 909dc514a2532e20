/** The accounts and invitations of a user, each with a form that switches to the account. */
import type { Membership } from "@accountlink/core/accounts";
import { type Html, html } from "../../html.ts";
import { timeHtml } from "../look/time.ts";
import { roles } from "../members/team_page.ts";
import type { Page, Visitor } from "../page.ts";
import { paths } from "../paths.ts";

/** An invitation, with the name of the member who invited the user; null if unknown. */
interface NamedInvitation extends Membership {
  readonly inviter: string | null;
}

export interface Choice {
  /** The account that the sign-in uses now. */
  readonly account: Pick<Visitor["account"], "name">;
  /** The accounts of the user, starting with the one that the user chose last. */
  readonly accounts: ReadonlyArray<Membership>;
  readonly invitations: ReadonlyArray<NamedInvitation>;
}

/** The page after the sign-in of a user with several accounts or with an invitation. */
export const choicePage = (choice: Choice): Page => ({
  title: choice.invitations.length === 0 ? "Which account?" : "You are invited",
  section: "account",
  content: html`
<p>Each account has its own communities, links and keys. You can change it at any time, next to your name.</p>
${accountsHtml(choice)}`,
});

export const accountsHtml = (choice: Choice): Html => html`
<ul class="cards" role="list">
${choice.invitations.map((invitation) => invitationCard(invitation))}
${choice.accounts.map((membership) => accountCard(membership, choice))}
</ul>`;

const accountCard = (
  { account: { name, status }, role }: Membership,
  { account }: Pick<Choice, "account">,
): Html => html`
<li>
<p><strong>${name}</strong>${name === account.name ? html` <span class="badge">In use</span>` : null} <small>${roles[role].label}</small></p>
${
  status === "suspended"
    ? html`<p>Suspended by the operator.</p>`
    : html`<form method="post" action="${paths.chooseAccount}"><button class="button quiet small" name="account" value="${name}">Use ${name}</button></form>`
}
</li>`;

const invitationCard = ({ account: { name }, role, since, inviter }: NamedInvitation): Html => html`
<li>
<p>${inviter === null ? "You are invited" : html`<strong>${inviter}</strong> invites you`} to <strong>${name}</strong> as <strong>${roles[role].label}</strong>, ${timeHtml(since)}.</p>
<p>${roles[role].hint}. What you do there, keys too, belongs to that account.</p>
<form method="post" action="${paths.chooseAccount}"><button class="button small" name="account" value="${name}">Accept, and use ${name}</button></form>
<details>
<summary class="bad">Decline<span class="unseen"> the invitation to ${name}</span></summary>
<form method="post" action="${paths.declineInvitation}">
<p>The invitation ends. An owner can invite you again.</p>
<p class="row"><button class="button bad small" name="account" value="${name}">Decline the invitation</button></p>
</form>
</details>
</li>`;
