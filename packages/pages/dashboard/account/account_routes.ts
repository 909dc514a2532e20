/** Routes of the account page: the page itself, its name for players, choosing another account, and ending sign-ins. */
import { OwnedKeys, SignIns } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import { makeAskingName, OwnedScopes } from "@accountlink/core/communities";
import type { ParameterProblem } from "@accountlink/core/errors";
import type { SignInId } from "@accountlink/core/ids";
import { Limits } from "@accountlink/core/limits";
import { parameterReader } from "@accountlink/http/for_pages";
import { DashboardCommunities } from "@accountlink/http-api";
import { Effect } from "effect";
import { PageSettings } from "../../page_settings.ts";
import { makeOwnerName, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import { paths } from "../paths.ts";
import { accountPage } from "./account_page.ts";
import { choicePage } from "./choice_page.ts";

export const accountRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const signIns = yield* SignIns;
  const keys = yield* OwnedKeys;
  const members = yield* Members;
  const limits = yield* Limits;
  const { contact } = yield* PageSettings;
  const nameOf = yield* makeOwnerName;
  const scopes = yield* OwnedScopes;
  const askingName = yield* makeAskingName;
  const readName = parameterReader(DashboardCommunities.patchScope);

  const invitationsOf = ({ invitations }: OwnerVisitor) =>
    Effect.forEach(invitations, (invitation) => {
      const { invitedBy: chatId } = invitation;
      const name = chatId === null ? Effect.succeed(null) : nameOf({ chatId });
      return Effect.map(name, (inviter) => ({ ...invitation, inviter }));
    });

  const sharedList = ({ owner: { account } }: OwnerVisitor) =>
    Effect.map(scopes.list(account), (owned) => owned.find(({ scope }) => scope.kind === "global") ?? null);

  const shown = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: string | null,
    problems: ReadonlyArray<ParameterProblem>,
  ) {
    const { account } = visitor.owner;
    const { signIn, accounts } = visitor;
    const shared = yield* sharedList(visitor);
    const listed = yield* signIns.list(signIn);
    const view = {
      ...(yield* keys.plan(account)),
      shared: shared && {
        name: typed ?? shared.settings.displayName ?? "",
        otherwise: yield* askingName(shared.scope, { displayName: null, guildName: null }),
        problems,
      },
      limits,
      contact,
      account,
      accounts,
      invitations: yield* invitationsOf(visitor),
      chatId: signIn.chatId,
      signIns: listed.map((other) => ({ ...other, isThis: other.id === signIn.id })),
    };
    return accountPage(view, visitor);
  });

  return [
    page(paths.account, (visitor) => shown(visitor, null, [])),
    form(
      paths.accountName,
      Effect.fnUntraced(function* (visitor, fields) {
        const typed = fields("displayName").trim();
        const shared = yield* sharedList(visitor);
        if (shared === null) return seeOther(paths.account);
        const { pid } = shared.scope;
        return yield* Effect.fromResult(readName({ pid, displayName: typed || null }, "global")).pipe(
          Effect.flatMap(({ displayName = null }) => scopes.update(visitor.owner, pid, { displayName })),
          Effect.as(seeOther(paths.account, { done: "said" })),
          Effect.catchTag("InvalidParameter", ({ parameters }) => shown(visitor, typed, parameters)),
        );
      }),
    ),
    page(paths.chooseAccount, (visitor) =>
      Effect.map(invitationsOf(visitor), (invitations) =>
        choicePage({ ...visitor, account: visitor.owner.account, invitations }),
      ),
    ),
    form(paths.chooseAccount, ({ signIn, context }, fields) =>
      Effect.as(members.choose(signIn, fields("account"), context.requestId), seeOther(paths.overview)),
    ),
    form(paths.declineInvitation, ({ signIn, context }, fields) =>
      Effect.as(
        members.decline(signIn, fields("account"), context.requestId),
        seeOther(paths.account, { done: "declined" }),
      ),
    ),
    form(paths.endSignIn, ({ signIn }, fields) =>
      Effect.as(signIns.end(signIn, fields("id") as SignInId), seeOther(paths.account, { done: "ended" })),
    ),
  ];
});
