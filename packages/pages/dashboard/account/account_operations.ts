/** What members do with their sign-in and their account, by JSON and by the forms of the pages. */

import { OwnedKeys, SignIns } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import { type Account, shownName } from "@accountlink/core/keys";
import { OwnedAccounts } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { envelopeV2, HttpSettings } from "@accountlink/http/for_pages";
import { DashboardAccount } from "@accountlink/http-api";
import { Effect } from "effect";
import { siteOf } from "../../sign_ins/site.ts";
import { makeOperation } from "../api_pipeline.ts";
import { makeDeletionNames, requireConfirmed } from "../communities/deletion.ts";

export const makeAccountOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const { publicUrl } = yield* HttpSettings;
  const keys = yield* OwnedKeys;
  const signIns = yield* SignIns;
  const members = yield* Members;
  const profiles = yield* Profiles;
  const { session } = siteOf("dashboard", publicUrl);
  const accounts = yield* OwnedAccounts;
  const namesOf = yield* makeDeletionNames;

  return {
    signIn: operation(DashboardAccount.getSignIn, function* ({ owner, signIn, ...member }) {
      const { account, chatId } = owner;
      const profile = yield* profiles.chat(chatId, null);
      return {
        account: accountJson(account),
        user: {
          chatId,
          username: profile?.username ?? null,
          displayName: profile?.displayName ?? null,
          avatar: profile?.avatar ?? null,
        },
        csrfToken: yield* signIns.csrfToken(signIn),
        expiresAt: formatTimestamp(signIn.expiresAt),
        role: member.role,
        scopes: member.scopes,
        accounts: member.accounts.map((each) => ({ name: shownName(each.account), role: each.role })),
        invitations: member.invitations.map((each) => ({
          account: shownName(each.account),
          role: each.role,
          invitedBy: each.invitedBy,
          at: formatTimestamp(each.since),
        })),
        keys: member.scopes === null ? yield* keys.plan(account) : null,
      };
    }),

    signOut: operation(DashboardAccount.deleteSignIn, ({ signIn, values, context }) =>
      Effect.map(signIns.end(signIn, values.all ? null : signIn.id), () =>
        session.clear(envelopeV2.success(context, { data: { signedOut: true } })),
      ),
    ),

    guilds: operation(DashboardAccount.getGuilds, ({ signIn }) =>
      Effect.map(profiles.ownGuilds(signIn.guilds ?? []), (guilds) => ({ guilds })),
    ),

    choose: operation(DashboardAccount.chooseAccount, function* ({ signIn, values, context }) {
      const { account, role } = yield* members.choose(signIn, values.account, context.requestId);
      const csrfToken = yield* signIns.csrfToken({ ...signIn, account: account.name });
      return { account: shownName(account), role, csrfToken };
    }),

    decline: operation(DashboardAccount.declineInvitation, ({ signIn, values, context }) =>
      Effect.as(members.decline(signIn, values.account, context.requestId), { declined: true as const }),
    ),

    rename: operation(DashboardAccount.patchAccount, function* ({ owner, values }) {
      return { account: accountJson(yield* accounts.rename(owner, values.name.trim())) };
    }),

    remove: operation(
      DashboardAccount.deleteAccount,
      function* ({ owner, values }) {
        yield* requireConfirmed(values.confirm, yield* namesOf(owner.account));
        yield* accounts.remove(owner);
      },
      (_, { context }) => session.clear(envelopeV2.success(context, { data: { deleted: true } })),
    ),
  };
});

const accountJson = (account: Account) => ({ name: shownName(account), tier: account.tier });
