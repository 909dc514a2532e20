/** The accounts of a user, and the invitations to others. */
import { type Membership, runsAccount } from "@accountlink/core/accounts";
import type { KeyOwner } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { OwnedScopes } from "@accountlink/core/owners";
import { Effect } from "effect";
import { formTo, type Html, html } from "../../html.ts";
import { makeScopeNames } from "../communities/community.ts";
import { communityName } from "../look/names.ts";
import { say, separated, tags } from "../look/say.ts";
import { timeHtml } from "../look/time.ts";
import { makeAccountTitle, makeGuildChoice, makeOwnerName, type OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths } from "../paths.ts";

/** At most this many lists of an invitation to all are named. */
const mostNamed = 5;

type Choice = Effect.Success<ReturnType<Effect.Success<typeof makeAccountChoice>>>;

type NamedInvitation = Choice["invitations"][number];

/** The page after the sign-in of a user with several accounts or with an invitation. */
export const choicePage = (choice: Choice): Page => ({
  title: say(choice.invitations.length === 0 ? "account.which" : "account.invited"),
  section: "account",
  content: html`
<p>${say("account.each")}</p>
${accountsHtml(choice)}`,
});

export const accountsHtml = (choice: Choice): Html => html`
<ul class="cards" role="list">
${choice.invitations.map(invitationCard)}
${choice.accounts.map((membership) => accountCard(membership, choice))}
</ul>`;

const accountCard = (
  { account: { name, status }, title, role }: Choice["accounts"][number],
  { account }: Choice,
): Html => html`
<li>
<p><strong>${title}</strong>${
  name === account.name ? html` <span class="badge">${say("account.in_use")}</span>` : null
} <small>${say(`team.label.${role}`)}</small></p>
${
  status === "suspended"
    ? html`<p>${say("account.suspended")}</p>`
    : formTo(
        paths.chooseAccount,
      )`<button class="button quiet small" name="account" value="${name}">${say("account.use", { account: title })}</button>`
}
</li>`;

const invitationText = ({ title: account, role, since, inviter }: NamedInvitation): Html => {
  const values = { b: tags.b, account, role: say(`team.label.${role}`), time: timeHtml(since) };
  return inviter === null
    ? say("account.invitation", values)
    : say("account.invitation_by", { ...values, inviter });
};

const lentText = ({ lent, communities, managed }: NamedInvitation): Html => {
  const said = say(`account.lends.${lent}`, { lists: separated(communities, ", ") });
  return lent === "none" || managed.length === 0
    ? said
    : html`${said} ${say("account.lends.which", { guilds: managed.join(", ") })}`;
};

/** What the form of an invitation sends back, so that nobody accepts what the page did not say. */
export const shownAs = ({ role, scopes }: Pick<Membership, "role" | "scopes">): string =>
  [role, ...(scopes ?? ["all"])].join(" ");

const invitationCard = (invitation: NamedInvitation): Html => {
  const {
    account: { name },
    title,
    role,
  } = invitation;
  return html`
<li>
<p>${invitationText(invitation)}${
    invitation.communities.length > 0 &&
    html` ${say("account.invitation.communities", { communities: separated(invitation.communities, ", ") })}`
  }</p>
<p>${say("account.invitation.effect", { may: say(`team.hint.${role}`) })}</p>
<p>${lentText(invitation)}</p>
${formTo(paths.chooseAccount, { as: shownAs(invitation) })`<button class="button small" name="account" value="${name}">${say("account.accept", { account: title })}</button>`}
<details>
<summary class="bad">${say("account.decline", { unseen: tags.unseen, account: title })}</summary>
${formTo(paths.declineInvitation)`
<p>${say("account.decline.effect")}</p>
<p class="row"><button class="button bad small" name="account" value="${name}">${say("account.decline.button")}</button></p>`}
</details>
</li>`;
};

export const makeAccountChoice = Effect.gen(function* () {
  const nameOf = yield* makeOwnerName;
  const titleOf = yield* makeAccountTitle;
  const scopes = yield* OwnedScopes;
  const nameIn = yield* makeScopeNames;
  const guildsOf = yield* makeGuildChoice;

  const titled = (membership: Membership) =>
    Effect.map(titleOf(membership.account), (title) => ({ ...membership, title }));

  /** The lists of an invitation to some communities, by their names; null for all lists, and for none. */
  const lentTo = Effect.fnUntraced(function* (owner: KeyOwner, { account, role, scopes: pids }: Membership) {
    const own = yield* scopes.list({ ...owner, account, scopes: pids });
    const first = pids === null ? own.slice(0, mostNamed) : own;
    const communities = yield* forEachLimited(first, 4, ({ scope }) =>
      Effect.map(nameIn(scope), (guildName) => communityName({ scope, guildName })),
    );
    const more = own.length > first.length ? ["…"] : [];
    const lendsAll = pids === null && runsAccount(role);
    const lent = lendsAll ? "all" : pids === null || own.length === 0 ? "none" : "some";
    return {
      /** To which lists the user lends the communities that they manage: every one, `communities`, or none. */
      lent,
      /** The names of the first lists that the invitation is to. */
      communities: [...communities, ...more],
    } as const;
  });

  return Effect.fnUntraced(function* (visitor: OwnerVisitor) {
    const { owner, accounts, invitations } = visitor;
    const guilds = invitations.length === 0 ? null : yield* guildsOf(visitor);
    const managed = (guilds ?? [])
      .filter(({ manager }) => manager)
      .map(({ name, guildId }) => name ?? guildId);
    return {
      account: owner.account,
      /** The accounts of the user, starting with the one that the user chose last. */
      accounts: yield* Effect.forEach(accounts, titled),
      invitations: yield* Effect.forEach(invitations, (invitation) => {
        const { invitedBy: chatId } = invitation;
        const inviter = chatId === null ? Effect.succeed(null) : nameOf({ chatId });
        return Effect.map(
          Effect.all([titled(invitation), inviter, lentTo(owner, invitation)]),
          ([each, name, to]) => ({ ...each, inviter: name, ...to, managed }),
        );
      }),
    };
  });
});
