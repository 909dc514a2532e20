/** Routes of the account page: the page itself, choosing another account, and ending sign-ins. */
import { OwnedKeys, SignIns } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import type { SignInId } from "@accountlink/core/ids";
import { Limits } from "@accountlink/core/limits";
import { Effect } from "effect";
import { PageSettings } from "../../page_settings.ts";
import { noticeHtml } from "../look/notice.ts";
import { makeOwnerName, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import { paths, withQuery } from "../paths.ts";
import { accountPage } from "./account_page.ts";
import { choicePage } from "./choice_page.ts";

export const accountRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const signIns = yield* SignIns;
  const keys = yield* OwnedKeys;
  const members = yield* Members;
  const limits = yield* Limits;
  const { contact } = yield* PageSettings;
  const nameOf = yield* makeOwnerName;

  const invitationsOf = ({ invitations }: OwnerVisitor) =>
    Effect.forEach(invitations, (invitation) => {
      const { invitedBy: chatId } = invitation;
      const name = chatId === null ? Effect.succeed(null) : nameOf({ chatId });
      return Effect.map(name, (inviter) => ({ ...invitation, inviter }));
    });

  return [
    page(
      paths.account,
      Effect.fnUntraced(function* (visitor, query) {
        const {
          signIn,
          owner: { account },
        } = visitor;
        const listed = yield* signIns.list(signIn);
        const view = {
          ...(yield* keys.plan(account)),
          limits,
          contact,
          account,
          accounts: visitor.accounts,
          invitations: yield* invitationsOf(visitor),
          chatId: signIn.chatId,
          signIns: listed.map((other) => ({ ...other, isThis: other.id === signIn.id })),
        };
        return accountPage(view, visitor, noticeHtml(query("done")));
      }),
    ),
    page(paths.chooseAccount, (visitor) =>
      Effect.map(invitationsOf(visitor), (invitations) =>
        choicePage({ ...visitor, account: visitor.owner.account, invitations }, visitor),
      ),
    ),
    form(paths.chooseAccount, ({ signIn, context }, fields) =>
      Effect.as(members.choose(signIn, fields("account"), context.requestId), seeOther(paths.overview)),
    ),
    form(paths.declineInvitation, ({ signIn, context }, fields) =>
      Effect.as(
        members.decline(signIn, fields("account"), context.requestId),
        seeOther(withQuery(paths.account, { done: "declined" })),
      ),
    ),
    form(paths.endSignIn, ({ signIn }, fields) =>
      Effect.as(
        signIns.end(signIn, fields("id") as SignInId),
        seeOther(withQuery(paths.account, { done: "ended" })),
      ),
    ),
  ];
});
