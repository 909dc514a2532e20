import type { ParameterProblem } from "@accountlink/core/errors";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "../../html.ts";
import { type KeyList, planText } from "../keys/keys_page.ts";
import { textField } from "../look/field.ts";
import { refusedFor } from "../look/refused.ts";
import { timeHtml } from "../look/time.ts";
import { roles } from "../members/team_page.ts";
import type { Page, Visitor } from "../page.ts";
import { may, paths } from "../paths.ts";
import { accountsHtml, type Choice } from "./choice_page.ts";
import { type PlanView, planHtml } from "./plan.ts";

interface OwnSignIn {
  readonly id: string;
  /** The browser and system; null if unknown. */
  readonly device: string | null;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  readonly isThis: boolean;
}

/** The name by which the shared list asks players, or the name as typed into the form. */
interface SharedName {
  /** Empty if the owners set none. */
  readonly name: string;
  /** What players read without a name. */
  readonly otherwise: string;
  readonly problems: ReadonlyArray<ParameterProblem>;
}

export interface AccountView extends Pick<KeyList, "used" | "allowed">, PlanView, Choice {
  /** Null without a shared list: other lists ask by the names of their communities. */
  readonly shared: SharedName | null;
  readonly account: Visitor["account"];
  readonly chatId: string;
  /** Newest first. */
  readonly signIns: ReadonlyArray<OwnSignIn>;
}

export const accountPage = (view: AccountView, visitor: Pick<Visitor, "role">): Page => ({
  title: "Account",
  section: "account",
  refused: refusedFor(view.shared?.problems ?? []),
  labels: { displayName: nameLabel },
  content: html`
<dl class="facts">
<div><dt>Signed in as</dt><dd>ID ${view.chatId}</dd></div>
<div><dt>Account</dt><dd>${view.account.name}</dd></div>
<div><dt>Role</dt><dd>${roles[visitor.role].label}</dd></div>
${may(visitor.role, paths.keys, html`<div><dt>Keys</dt><dd>${planText(view)}</dd></div>`)}
</dl>
${view.shared && may(visitor.role, paths.accountName, nameForm(view.shared))}
${may(visitor.role, paths.keys, planHtml(view, view.account))}
${view.accounts.length + view.invitations.length === 1 ? null : html`<section><h2>Your accounts</h2>${accountsHtml(view)}</section>`}
<section>
<h2>Sign-ins</h2>
<p>Browsers in which you are signed in, latest first.</p>
<ul class="cards" role="list">${view.signIns.map((signIn) => signInCard(signIn))}</ul>
<form method="post" action="${paths.signOut}" class="more"><button class="button quiet" name="all" value="true">Sign out everywhere</button></form>
</section>
<p class="more">What the service stores about you as a user: <a href="/me">your data</a></p>`,
});

const nameLabel = "Name that players read";

const nameForm = ({ name, otherwise, problems }: SharedName): Html => html`
<form method="post" action="${paths.accountName}" class="panel">
${textField({ name: "displayName", label: nameLabel, hint: `Who asks for their accounts in the shared list. Empty: ${otherwise}`, value: name, maxLength: 80, problems })}
<button class="button quiet">Save the name</button>
</form>`;

const signInCard = ({ id, device, createdAt, expiresAt, isThis }: OwnSignIn): Html => html`
<li>
<p><strong>${device ?? "Unknown browser"}</strong>${isThis ? html` <span class="badge">This browser</span>` : null}</p>
<p>Since ${timeHtml(createdAt)}, until ${timeHtml(expiresAt)}</p>
${
  isThis
    ? null
    : html`<form method="post" action="${paths.endSignIn}"><input type="hidden" name="id" value="${id}"><button class="button quiet small">End it</button></form>`
}
</li>`;
