/** Routes of the account page: the page itself, choosing another account, and ending sign-ins. */
import { OwnedKeys, SignIns } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import type { SignInId } from "@accountlink/core/ids";
import { Limits } from "@accountlink/core/limits";
import { Effect } from "effect";
import { PageSettings } from "../../page_settings.ts";
import { noticeHtml } from "../look/notice.ts";
import { type OwnerPages, seeOther } from "../owner_pages.ts";
import { paths, withQuery } from "../paths.ts";
import { accountPage } from "./account_page.ts";
import { choicePage } from "./choice_page.ts";

export const accountRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const signIns = yield* SignIns;
  const keys = yield* OwnedKeys;
  const members = yield* Members;
  const limits = yield* Limits;
  const { contact } = yield* PageSettings;
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
          chatId: signIn.chatId,
          signIns: listed.map((other) => ({ ...other, isThis: other.id === signIn.id })),
        };
        return accountPage(view, visitor, noticeHtml(query("done")));
      }),
    ),
    page(paths.chooseAccount, (visitor) =>
      Effect.succeed(choicePage({ ...visitor, account: visitor.owner.account }, visitor)),
    ),
    form(paths.chooseAccount, ({ signIn }, fields) =>
      Effect.as(members.choose(signIn, fields("account")), seeOther(paths.overview)),
    ),
    form(paths.endSignIn, ({ signIn }, fields) =>
      Effect.as(
        signIns.end(signIn, fields("id") as SignInId),
        seeOther(withQuery(paths.account, { done: "ended" })),
      ),
    ),
  ];
});
