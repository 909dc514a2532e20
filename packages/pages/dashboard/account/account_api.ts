/** The dashboard's JSON: the signed-in user with their accounts and guilds, and the sign-out. */

import { OwnedKeys, SignIns } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import { Profiles } from "@accountlink/core/platforms";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { envelopeV2, HttpSettings } from "@accountlink/http/for_pages";
import { DashboardAccount } from "@accountlink/http-api";
import { Effect } from "effect";
import { siteOf } from "../../sign_ins/site.ts";
import { makeApiPipeline } from "../api_pipeline.ts";

export const accountApi = Effect.gen(function* () {
  const bind = yield* makeApiPipeline;
  const { publicUrl } = yield* HttpSettings;
  const keys = yield* OwnedKeys;
  const signIns = yield* SignIns;
  const members = yield* Members;
  const profiles = yield* Profiles;
  const { session } = siteOf("dashboard", publicUrl);

  return [
    bind(DashboardAccount.getSignIn, function* ({ owner: { account, chatId }, member, signIn }) {
      const profile = yield* profiles.chat(chatId, null);
      const { name, tier } = account;
      return {
        data: {
          account: { name, tier },
          user: {
            chatId,
            username: profile?.username ?? null,
            displayName: profile?.displayName ?? null,
            avatar: profile?.avatar ?? null,
          },
          csrfToken: yield* signIns.csrfToken(signIn),
          expiresAt: formatTimestamp(signIn.expiresAt),
          role: member.role,
          accounts: member.accounts.map((each) => ({ name: each.account.name, role: each.role })),
          invitations: member.invitations.map((each) => ({
            account: each.account.name,
            role: each.role,
            invitedBy: each.invitedBy,
            at: formatTimestamp(each.since),
          })),
          keys: yield* keys.plan(account),
        },
      };
    }),

    bind(DashboardAccount.deleteSignIn, ({ signIn, values, context }) =>
      Effect.map(signIns.end(signIn, values.all ? null : signIn.id), () =>
        session.clear(envelopeV2.success(context, { data: { signedOut: true } })),
      ),
    ),

    bind(DashboardAccount.chooseAccount, function* ({ signIn, values, context }) {
      const { account, role } = yield* members.choose(signIn, values.account, context.requestId);
      const csrfToken = yield* signIns.csrfToken(signIn);
      return { data: { account: account.name, role, csrfToken } };
    }),

    bind(DashboardAccount.declineInvitation, ({ signIn, values, context }) =>
      Effect.as(members.decline(signIn, values.account, context.requestId), { data: { declined: true } }),
    ),

    bind(DashboardAccount.getGuilds, ({ signIn }) =>
      Effect.map(profiles.ownGuilds(signIn.guilds ?? []), (found) => ({ data: { guilds: found } })),
    ),
  ];
});
