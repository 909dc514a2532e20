/** The page that asks before an account is deleted. */
import { hasAccepted, Members } from "@accountlink/core/accounts";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { OwnedBlocks, OwnedScopes } from "@accountlink/core/owners";
import { RolePlanStore } from "@accountlink/core/roles";
import { Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { confirmForm, deletionLabels, linksOf, makeDeletionNames } from "../communities/deletion.ts";
import type { Refused } from "../look/refused.ts";
import { linkTo, say, tags } from "../look/say.ts";
import { makeAccountTitle, type OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";

type AccountLoss = Effect.Success<ReturnType<Effect.Success<typeof makeAccountLoss>>>;

export const makeAccountLoss = Effect.gen(function* () {
  const scopes = yield* OwnedScopes;
  const members = yield* Members;
  const webhooks = yield* Webhooks;
  const plans = yield* RolePlanStore;
  const blocks = yield* OwnedBlocks;
  const namesOf = yield* makeDeletionNames;
  const titleOf = yield* makeAccountTitle;

  return Effect.fnUntraced(function* ({ owner }: OwnerVisitor) {
    const { account, chatId } = owner;
    const lists = yield* scopes.listCounted(owner);
    const listed = yield* forEachLimited(lists, 8, ({ scope }) => plans.list(scope.pid));
    const blocked = yield* forEachLimited(lists, 8, ({ scope }) => blocks.count(scope));
    const [name] = yield* namesOf(account);
    return {
      title: yield* titleOf(account),
      /** The text that the owner has to type. */
      name,
      lists,
      keys: lists.reduce((sum, { keys }) => sum + keys, 0),
      webhooks: (yield* webhooks.list(account.name)).length,
      plans: listed.flat().length,
      blocks: blocked.reduce((sum, count) => sum + count, 0),
      /** The members besides the signed-in user. People who were only invited have no sign-in that would end. */
      others: (yield* members.list(account.name)).filter(
        (member) => member.chatId !== chatId && hasAccepted(member),
      ),
    };
  });
});

const csvOf = (lists: AccountLoss["lists"]): Html | null => {
  const [first, ...others] = lists;
  if (first === undefined) return null;
  const pid = others.length === 0 ? first.scope.pid : "all";
  return html` ${say("deletion.file", { a: linkTo(withQuery(paths.linksFile, { pid })) })}`;
};

export const accountDeletionPage = (loss: AccountLoss, refused: Refused | null): Page => ({
  title: say("deletion.account"),
  section: "account",
  refused,
  labels: deletionLabels,
  content: html`
<p>${say("deletion.account.text", { b: tags.b, account: loss.title })}</p>
<ul>
<li>${linksOf(loss.lists)}</li>
<li>${say("deletion.account.keys", { count: loss.keys })}</li>
${loss.webhooks > 0 && html`<li>${say("deletion.account.webhooks", { count: loss.webhooks })}</li>`}
${loss.blocks > 0 && html`<li>${say("deletion.account.blocks", { count: loss.blocks })}</li>`}
${loss.plans > 0 && html`<li>${say("deletion.account.plans", { count: loss.plans })}</li>`}
<li>${say("deletion.account.sign_ins", { count: loss.others.length })}</li>
</ul>
<p>${say("deletion.undo")}${csvOf(loss.lists)} ${say("deletion.account.stays", { a: linkTo("/me") })}</p>
${confirmForm({ action: paths.deleteAccount, back: paths.account, name: loss.name, label: say("deletion.account.button") })}`,
});
