/** The accounts of a user, each with a form that switches to the account. */
import type { Membership } from "@accountlink/core/accounts";
import { type Html, html } from "../../html.ts";
import { csrfField } from "../look/field.ts";
import { roles } from "../members/team_page.ts";
import type { Page, Visitor } from "../page.ts";
import { paths } from "../paths.ts";

export interface Choice {
  /** The account that the sign-in uses now. */
  readonly account: Pick<Visitor["account"], "name">;
  /** The accounts of the user, starting with the one that the user chose last. */
  readonly accounts: ReadonlyArray<Membership>;
}

/** The page after the sign-in of a user with several accounts. */
export const choicePage = (choice: Choice, visitor: Pick<Visitor, "csrf">): Page => ({
  status: 200,
  title: "Which account?",
  section: "account",
  content: html`
<p>You are in the teams of several accounts. Each has its own communities, links and keys.</p>
${accountsHtml(choice, visitor)}
<p class="more">You can change it at any time, next to your name.</p>`,
});

export const accountsHtml = ({ account, accounts }: Choice, { csrf }: Pick<Visitor, "csrf">): Html => html`
<ul class="cards" role="list">${accounts.map(
  ({ account: { name, status }, role }) => html`
<li>
<p><strong>${name}</strong>${name === account.name ? html` <span class="badge">In use</span>` : null} <small>${roles[role].label}</small></p>
${
  status === "suspended"
    ? html`<p>Suspended by the operator.</p>`
    : html`<form method="post" action="${paths.chooseAccount}">${csrfField(csrf)}<button class="button quiet small" name="account" value="${name}">Use ${name}</button></form>`
}
</li>`,
)}</ul>`;
