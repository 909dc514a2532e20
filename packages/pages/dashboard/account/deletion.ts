/** The page that asks before an account is deleted. */
import { type Member, Members } from "@accountlink/core/accounts";
import { type OwnedScope, OwnedScopes } from "@accountlink/core/owners";
import { RolePlanStore } from "@accountlink/core/roles";
import { Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import { confirmForm, deletionLabels, linksOf } from "../look/deletion.ts";
import type { Refused } from "../look/refused.ts";
import { counted } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";

/** What an account loses with its deletion. */
interface AccountLoss {
  readonly title: string;
  readonly lists: ReadonlyArray<Pick<OwnedScope, "links" | "scope">>;
  readonly keys: number;
  readonly webhooks: number;
  readonly plans: number;
  /** The members besides the signed-in user. */
  readonly others: ReadonlyArray<Member>;
}

/** Returns a function that counts what the deletion of the visitor's account deletes. */
export const makeAccountLoss = Effect.gen(function* () {
  const scopes = yield* OwnedScopes;
  const members = yield* Members;
  const webhooks = yield* Webhooks;
  const plans = yield* RolePlanStore;

  return Effect.fnUntraced(function* ({ owner }: OwnerVisitor, title: string) {
    const { account, chatId } = owner;
    const lists = yield* scopes.list(owner);
    const listed = yield* Effect.forEach(lists, ({ scope }) => plans.list(scope.pid));
    return {
      title,
      lists,
      keys: lists.reduce((sum, { keys }) => sum + keys, 0),
      webhooks: (yield* webhooks.list(account.name)).length,
      plans: listed.flat().length,
      others: (yield* members.list(account.name)).filter((member) => member.chatId !== chatId),
    } satisfies AccountLoss;
  });
});

const csvOf = (lists: AccountLoss["lists"]): Html | null => {
  const [first, ...others] = lists;
  if (first === undefined) return null;
  const pid = others.length === 0 ? first.scope.pid : "all";
  return html` <a href="${to(withQuery(paths.linksFile, { pid }))}">Download the links as CSV</a> first.`;
};

export const accountDeletionPage = (loss: AccountLoss, refused: Refused | null): Page => ({
  title: "Delete the account?",
  section: "account",
  refused,
  labels: deletionLabels,
  content: html`
<p>This deletes <strong>${loss.title}</strong> for everybody in its team:</p>
<ul>
<li>${linksOf(loss.lists)}</li>
<li>${counted(loss.keys, "key")}, refused within a second: bots and games that use one stop working</li>
${loss.webhooks === 0 ? null : html`<li>${counted(loss.webhooks, "webhook")}</li>`}
${
  loss.plans === 0
    ? null
    : html`<li>The rules for roles of ${counted(loss.plans, "community", "communities")}. Members keep the roles and
      nicknames that they have</li>`
}
<li>${
    loss.others.length === 0
      ? "Your sign-ins to it"
      : `The sign-ins of you and ${counted(loss.others.length, "other person", "other people")} in the team`
  }</li>
</ul>
<p>Nobody can undo it.${csvOf(loss.lists)} What the service stores about you as a user stays: <a href="${to("/me")}">your data</a>.</p>
${confirmForm({ action: paths.deleteAccount, back: paths.account, name: loss.title, label: "Delete the account" }, refused)}`,
});
