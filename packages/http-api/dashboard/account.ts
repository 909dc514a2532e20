/**
 * Dashboard routes for the signed-in user, with their accounts and guilds.
 *
 * @example
 * ```ts
 * const ofSession = [DashboardAccount.getSignIn, DashboardAccount.deleteSignIn, DashboardAccount.chooseAccount];
 * [...ofSession, DashboardAccount.declineInvitation, DashboardAccount.getGuilds].every(({ codes }) => codes.has("INVALID_SESSION")); // true
 * ```
 */
import { memberRoles } from "@accountlink/core/accounts";
import { ChatId, GuildId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { flag, inPath, text } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { success } from "../v2/envelope.ts";
import { signedIn } from "./signed_in.ts";

const Text = Schema.NullOr(Schema.String);

const Role = Schema.Literals(memberRoles);

export const getSignIn = defineRoute({
  ...signedIn("GET", "moderator"),
  id: "getSignIn",
  path: "/dashboard/api/session",
  summary: "The signed-in user, and the token that writes need",
  parameters: {},
  success: success(
    Schema.Struct({
      account: Schema.Struct({ name: Schema.String, tier: Schema.Literals(["free", "premium"]) }),
      user: Schema.Struct({ chatId: ChatId, username: Text, displayName: Text, avatar: Text }),
      csrfToken: Schema.String,
      expiresAt: IsoTime,
      role: Role,
      accounts: Schema.Array(Schema.Struct({ name: Schema.String, role: Role })),
      invitations: Schema.Array(
        Schema.Struct({
          account: Schema.String,
          role: Role,
          invitedBy: Schema.NullOr(ChatId),
          at: IsoTime,
        }),
      ),
      keys: Schema.Struct({ used: Schema.Int, allowed: Schema.NullOr(Schema.Int) }),
    }),
  ),
});

export const deleteSignIn = defineRoute({
  ...signedIn("DELETE", "moderator"),
  id: "deleteSignIn",
  path: "/dashboard/api/session",
  summary: "Sign out",
  parameters: { all: flag("Whether to end every sign-in of the account") },
  success: success(Schema.Struct({ signedOut: Schema.Literal(true) })),
});

export const chooseAccount = defineRoute({
  ...signedIn("POST", "moderator"),
  id: "chooseAccount",
  path: "/dashboard/api/session/account",
  summary: "Switch to another account of the signed-in user, or accept an invitation to one",
  parameters: { account: text("Name of the account") },
  success: success(Schema.Struct({ account: Schema.String, role: Role, csrfToken: Schema.String })),
});

export const declineInvitation = defineRoute({
  ...signedIn("DELETE", "moderator"),
  id: "declineInvitation",
  path: "/dashboard/api/session/invitations/:account",
  summary: "Decline an invitation to an account",
  parameters: { account: inPath(text("Name of the account")) },
  success: success(Schema.Struct({ declined: Schema.Literal(true) })),
});

export const getGuilds = defineRoute({
  ...signedIn("GET", "moderator"),
  id: "getGuilds",
  path: "/dashboard/api/guilds",
  summary: "The guilds of the signed-in user",
  parameters: {},
  success: success(
    Schema.Struct({
      guilds: Schema.Array(
        Schema.Struct({ guildId: GuildId, name: Text, bot: Schema.Boolean, manager: Schema.Boolean }),
      ),
    }),
  ),
});
