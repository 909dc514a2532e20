/**
 * Dashboard routes for the signed-in user, with their accounts and guilds.
 *
 * @example
 * ```ts
 * const ofSession = [DashboardAccount.getSignIn, DashboardAccount.deleteSignIn, DashboardAccount.chooseAccount];
 * const ofAccount = [DashboardAccount.patchAccount, DashboardAccount.deleteAccount];
 * [...ofSession, ...ofAccount, DashboardAccount.declineInvitation, DashboardAccount.getGuilds].every(({ codes }) => codes.has("INVALID_SESSION")); // true
 * ```
 */
import { memberRoles } from "@accountlink/core/accounts";
import { ChatId, GuildId, Pid } from "@accountlink/core/ids";
import { tiers } from "@accountlink/core/keys";
import { newName } from "@accountlink/core/name_text";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { flag, inPath, required, text } from "../parameter.ts";
import { confirm, signedIn } from "./signed_in.ts";

const Text = Schema.NullOr(Schema.String);

const Role = Schema.Literals(memberRoles);

const AccountAnswer = Schema.Struct({ name: Schema.String, tier: Schema.Literals(tiers) });

export const getSignIn = signedIn("moderator", "GET", "/session", {
  id: "getSignIn",
  summary: "The signed-in user, and the token that writes need",
  parameters: {},
  data: {
    account: AccountAnswer,
    user: Schema.Struct({ chatId: ChatId, username: Text, displayName: Text, avatar: Text }),
    csrfToken: Schema.String,
    expiresAt: IsoTime,
    role: Role,
    scopes: Schema.NullOr(Schema.Array(Pid)),
    accounts: Schema.Array(Schema.Struct({ name: Schema.String, role: Role })),
    invitations: Schema.Array(
      Schema.Struct({
        account: Schema.String,
        role: Role,
        invitedBy: Schema.NullOr(ChatId),
        at: IsoTime,
      }),
    ),
    keys: Schema.NullOr(Schema.Struct({ used: Schema.Int, allowed: Schema.NullOr(Schema.Int) })),
  },
});

export const deleteSignIn = signedIn("moderator", "DELETE", "/session", {
  id: "deleteSignIn",
  summary: "Sign out",
  parameters: { all: flag("Whether to end every sign-in of the account") },
  data: { signedOut: Schema.Literal(true) },
});

export const chooseAccount = signedIn("moderator", "POST", "/session/account", {
  id: "chooseAccount",
  summary: "Switch to another account of the signed-in user, or accept an invitation to one",
  parameters: { account: text("Name of the account") },
  example: { account: "Chess Club" },
  data: { account: Schema.String, role: Role, csrfToken: Schema.String },
  refuses: ["account_limit"],
});

export const declineInvitation = signedIn("moderator", "DELETE", "/session/invitations/:account", {
  id: "declineInvitation",
  summary: "Decline an invitation to an account",
  parameters: { account: inPath(text("Name of the account")) },
  data: { declined: Schema.Literal(true) },
});

export const patchAccount = signedIn("owner", "PATCH", "/account", {
  id: "patchAccount",
  summary: "Rename the account",
  parameters: {
    name: required(newName(80), { is: "text", most: 80 }, "Name of the account, which no other account has"),
  },
  example: { name: "Chess Club" },
  data: { account: AccountAnswer },
  refuses: ["name_taken"],
});

export const deleteAccount = signedIn("owner", "DELETE", "/account", {
  id: "deleteAccount",
  summary: "Delete the account with its communities, links, keys, role plans and webhooks",
  parameters: { confirm },
  source: "body",
  example: { confirm: "Chess Club" },
  data: { deleted: Schema.Literal(true) },
});

export const getGuilds = signedIn("moderator", "GET", "/guilds", {
  id: "getGuilds",
  summary: "The guilds of the signed-in user",
  parameters: {},
  data: {
    guilds: Schema.Array(
      Schema.Struct({ guildId: GuildId, name: Text, bot: Schema.Boolean, manager: Schema.Boolean }),
    ),
  },
});
