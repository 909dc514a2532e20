/** Routes of the account page: its names, choosing another account, ending sign-ins, and deleting the account. */
import { OwnedKeys, SignIns } from "@accountlink/core";
import { makeAskingName } from "@accountlink/core/communities";
import type { SignInId } from "@accountlink/core/ids";
import { shownName, type Tier } from "@accountlink/core/keys";
import { type LimitSettings, Limits, type TierLimits } from "@accountlink/core/limits";
import { OwnedScopes } from "@accountlink/core/owners";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import { Effect } from "effect";
import { contactHtml } from "../../footer.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { PageSettings } from "../../page_settings.ts";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { jsonRoutes } from "../api_pipeline.ts";
import { makeCommunityOperations } from "../communities/community_operations.ts";
import { planText } from "../keys/keys_page.ts";
import { fieldsOf, panelTo, textField } from "../look/field.ts";
import { orShowAgain, type Refused } from "../look/refused.ts";
import { linkTo, say } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import { makeAccountTitle, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { may, paths } from "../paths.ts";
import { accountsHtml, choicePage, makeAccountChoice, shownAs } from "./account_choice.ts";
import { makeAccountOperations } from "./account_operations.ts";
import { accountDeletionPage, makeAccountLoss } from "./deletion.ts";

export const accountRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const operations = yield* makeAccountOperations;
  const { update: updateScope } = yield* makeCommunityOperations;
  const signIns = yield* SignIns;
  const keys = yield* OwnedKeys;
  const limits = yield* Limits;
  const { contact } = yield* PageSettings;
  const titleOf = yield* makeAccountTitle;
  const scopes = yield* OwnedScopes;
  const askingName = yield* makeAskingName;
  const choiceOf = yield* makeAccountChoice;
  const lossOf = yield* makeAccountLoss;

  const sharedList = ({ owner }: OwnerVisitor) =>
    Effect.map(scopes.list(owner), (owned) => owned.find(({ scope }) => scope.kind === "global") ?? null);

  const shown = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: { readonly displayName?: string; readonly name?: string },
    refused: Refused | null,
  ) {
    const { owner, signIn, role } = visitor;
    const { account } = owner;
    const plan = yield* keys.plan(account);
    // Only the shared list asks by this name: other lists ask by the names of their communities.
    const shared = yield* sharedList(visitor);
    const displayName = typed.displayName ?? shared?.settings.displayName ?? "";
    const title = yield* titleOf(account);
    const isNamed = title === shownName(account);
    const name = typed.name ?? (isNamed ? shownName(account) : "");
    const field = fieldsOf(labels, { name, displayName });
    const otherwise = shared && (yield* askingName(shared.scope, { displayName: null, guildName: null }));
    const choice = yield* choiceOf(visitor);
    return {
      title: say("menu.account"),
      section: "account",
      refused,
      labels,
      content: html`
<dl class="facts">
<div><dt>${say("account.signed_in")}</dt><dd>ID ${signIn.chatId}</dd></div>
<div><dt>${say("menu.account")}</dt><dd>${title}</dd></div>
<div><dt>${say("team.role")}</dt><dd>${say(`team.label.${role}`)}</dd></div>
${may(paths.keys, html`<div><dt>${say("menu.keys")}</dt><dd>${planText(plan)}</dd></div>`)}
</dl>
${may(paths.renameAccount, nameForm(field("name"), isNamed ? null : title))}
${otherwise && may(paths.accountName, askingForm(field("displayName"), otherwise))}
${may(paths.keys, planHtml(limits, account.tier, contact))}
${choice.accounts.length + choice.invitations.length > 1 && section(say("account.yours"))`${accountsHtml(choice)}`}
${section(say("account.sign_ins"))`
<p>${say("account.sign_ins.text")}</p>
<ul class="cards" role="list">${(yield* signIns.list(signIn)).map((other) => signInCard(other, other.id === signIn.id))}</ul>
${formTo(paths.signOut, {}, html` class="more"`)`<button class="button quiet" name="all" value="true">${say("account.sign_out_all")}</button>`}`}
<p class="more">${say("account.about_you", { a: linkTo("/me") })}</p>
${may(paths.deleteAccount, html`<p class="more"><a class="bad" href="${to(paths.deleteAccount)}">${say("deletion.account.button")}</a></p>`)}`,
    } satisfies Page;
  });

  const deletion = (visitor: OwnerVisitor, refused: Refused | null) =>
    Effect.map(lossOf(visitor), (loss) => accountDeletionPage(loss, refused));

  const chooseAgain = (visitor: OwnerVisitor) => (refused: Refused) =>
    Effect.map(choiceOf(visitor), (choice): Page => ({ ...choicePage(choice), refused }));

  /** Says that the invitation or membership of the form has ended since its page was opened. */
  const orEnded = <A>(visitor: OwnerVisitor, answer: Effect.Effect<A, SiteError>) =>
    Effect.catchTag(answer, "BadRequest", () =>
      chooseAgain(visitor)({ status: 404, problems: [], general: say("account.invitation.ended") }),
    );

  return [
    ...jsonRoutes(operations),
    page(paths.account, (visitor) => shown(visitor, {}, null)),
    form(paths.renameAccount, (visitor, fields) =>
      orShowAgain(
        Effect.as(operations.rename.submit(visitor, fields), seeOther(paths.account, { done: "renamed" })),
        (refused) => shown(visitor, { name: fields("name").trim() }, refused),
      ),
    ),
    page(paths.deleteAccount, (visitor) => deletion(visitor, null)),
    form(paths.deleteAccount, (visitor, fields) =>
      orShowAgain(
        Effect.as(operations.remove.submit(visitor, fields), seeOther(paths.signedOut, { deleted: "1" })),
        (refused) => deletion(visitor, refused),
      ),
    ),
    form(paths.accountName, function* (visitor, fields) {
      const shared = yield* sharedList(visitor);
      if (shared === null) return seeOther(paths.account);
      const saved = updateScope.submit(visitor, fields, { pid: shared.scope.pid });
      return yield* orShowAgain(Effect.as(saved, seeOther(paths.account, { done: "said" })), (refused) =>
        shown(visitor, { displayName: fields("displayName").trim() }, refused),
      );
    }),
    page(paths.chooseAccount, (visitor) => Effect.map(choiceOf(visitor), choicePage)),
    form(paths.chooseAccount, (visitor, fields) => {
      const showAgain = chooseAgain(visitor);
      const invitation = visitor.invitations.find(({ account }) => account.name === fields("account"));
      if (invitation !== undefined && shownAs(invitation) !== fields("as"))
        return showAgain({ status: 409, problems: [], general: say("account.invitation.changed") });
      const chosen = operations.choose.submit(visitor, fields);
      return orEnded(visitor, orShowAgain(Effect.as(chosen, seeOther(paths.overview)), showAgain));
    }),
    form(paths.declineInvitation, (visitor, fields) => {
      const declined = operations.decline.submit(visitor, fields);
      return orEnded(visitor, Effect.as(declined, seeOther(paths.account, { done: "declined" })));
    }),
    form(paths.endSignIn, ({ signIn }, fields) =>
      Effect.as(signIns.end(signIn, fields("id") as SignInId), seeOther(paths.account, { done: "ended" })),
    ),
  ];
});

const labels = { name: say("account.name"), displayName: say("account.asking") };

type NameField = Parameters<typeof textField>[0];

/** @param until how the account is called while it has no name; null if it has one */
const nameForm = (field: NameField, until: string | Html | null): Html => {
  const hint = html`${say("account.name.hint")}${until !== null && html` ${say("account.name.until", { title: until })}`}`;
  return panelTo(paths.renameAccount)`
${textField({ ...field, hint, maxLength: 80, required: true })}
<button class="button quiet">${say("account.rename")}</button>`;
};

/** @param otherwise what players read without a name */
const askingForm = (field: NameField, otherwise: string): Html => panelTo(paths.accountName)`
${textField({ ...field, hint: say("account.asking.hint", { name: otherwise }), maxLength: 80 })}
<button class="button quiet">${say("account.asking.save")}</button>`;

/** The name of a browser as `deviceOf` made it, in the reader's language. */
const deviceText = (device: string | null): Html => {
  if (device === null) return say("account.unknown_browser");
  const [browser = "", system] = device.split(" on ");
  return system === undefined ? html`${browser}` : say("account.browser", { browser, system });
};

const signInCard = ({ id, device, createdAt, expiresAt }: SiteSignIn, isThis: boolean): Html => html`
<li>
<div id="sign-in-${id}">
<p><strong>${deviceText(device)}</strong>${isThis ? html` <span class="badge">${say("account.this_browser")}</span>` : null}</p>
<p>${say("account.since_until", { since: timeHtml(createdAt), until: timeHtml(expiresAt) })}</p>
</div>
${
  !isThis &&
  formTo(paths.endSignIn, {
    id,
  })`<button class="button quiet small" aria-describedby="sign-in-${id}">${say("account.end")}</button>`
}
</li>`;

/** The account's plan, how it differs from Premium, and how to reach the operator. */
const planHtml = (limits: LimitSettings, tier: Tier, contact: string | null) => section(say("account.plan"))`
${tableHtml({
  id: "plan",
  caption: say(`account.plan.${tier}`),
  columns: [
    [say("account.plan.what"), ([label]) => label],
    ["Free", ([, textOf]) => textOf(limits.free, "no"), "number"],
    ["Premium", ([, textOf]) => textOf(limits.premium, "yes"), "number"],
  ],
  rows: planRows,
})}
${
  tier !== "premium" &&
  html`<p>${
    contact === null
      ? say("account.plan.ask")
      : say("account.plan.ask_contact", { contact: contactHtml(contact) })
  }</p>`
}`;

const orNone = (count: number): Html => (count === 0 ? say("account.plan.no_limit") : numberHtml(count));

const planRows: ReadonlyArray<readonly [Html, (limits: TierLimits, isPremium: "yes" | "no") => Html]> = [
  [say("menu.links"), ({ links }) => orNone(links)],
  [say("menu.keys"), ({ keys }) => orNone(keys)],
  [
    say("account.plan.window"),
    ({ perWindow, windowMs }) =>
      perWindow === 0
        ? orNone(0)
        : say("account.plan.per_window", { count: perWindow, seconds: windowMs / 1_000 }),
  ],
  [say("account.plan.daily"), ({ daily }) => orNone(daily)],
  [say("account.plan.verify_daily"), ({ verifyDaily }) => orNone(verifyDaily)],
  [say("account.plan.alts"), (_, isPremium) => say(`account.plan.${isPremium}`)],
  [say("account.plan.profiles"), (_, isPremium) => say(`account.plan.${isPremium}`)],
];
