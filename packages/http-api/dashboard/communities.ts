/**
 * Dashboard routes for the data scopes of an account and their links.
 *
 * @example
 * ```ts
 * const ofLinks = [DashboardCommunities.getLinks, DashboardCommunities.putLink, DashboardCommunities.deleteLink];
 * new Set(ofLinks.map(pathTemplate)).size; // 1
 * const ofScopes = [DashboardCommunities.getScopes, DashboardCommunities.patchScope];
 * ofScopes.every(({ access }) => access === "session"); // true
 * ```
 */
import { ChatId, GameId, GuildId, Pid } from "@accountlink/core/ids";
import { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, gameId } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { success } from "../v2/envelope.ts";
import { deleteGame, patchGame } from "../v2/writes.ts";
import {
  displayName,
  doneText,
  linkCursor,
  pageLimit,
  pid,
  pidInPath,
  search,
  supportUrl,
  unlessLeftOut,
} from "./parameters.ts";
import { signedIn } from "./signed_in.ts";

const Text = Schema.NullOr(Schema.String);

const Scope = Schema.Struct({
  pid: Pid,
  scope: Schema.Literals(["global", "guild"]),
  guildId: Schema.NullOr(GuildId),
  name: Text,
  links: Schema.Int,
  keys: Schema.Int,
  settings: Schema.Struct({ displayName: Text, supportUrl: Text, doneText: Text }),
});

export const getScopes = defineRoute({
  ...signedIn("GET", "moderator"),
  id: "getScopes",
  path: "/dashboard/api/scopes",
  summary: "The data scopes of the account",
  parameters: {},
  success: success(Schema.Struct({ scopes: Schema.Array(Scope) })),
});

export const patchScope = defineRoute({
  ...signedIn("PATCH", "admin"),
  id: "patchScope",
  path: "/dashboard/api/scopes/:pid",
  summary: "Change the texts that users read when they verify",
  parameters: {
    pid: pidInPath,
    displayName: unlessLeftOut(displayName),
    supportUrl: unlessLeftOut(supportUrl),
    doneText: unlessLeftOut(doneText),
  },
  success: success(Schema.Struct({ scope: Scope })),
});

export const getLinks = defineRoute({
  ...signedIn("GET", "moderator"),
  id: "getOwnedLinks",
  path: "/dashboard/api/links",
  summary: "The links of a data scope, latest verification first",
  parameters: { pid, q: search, limit: pageLimit, cursor: linkCursor },
  success: success(
    Schema.Struct({
      links: Schema.Array(
        Schema.Struct({
          chatId: ChatId,
          gameId: GameId,
          linkVersion: Schema.Int,
          lastVerifiedAt: IsoTime,
          chat: Schema.NullOr(ChatProfile),
          game: Schema.NullOr(GameProfile),
        }),
      ),
      next: Text,
    }),
  ),
});

export const putLink = defineRoute({
  ...signedIn("PUT", "moderator"),
  id: "putOwnedLink",
  path: "/dashboard/api/links",
  summary: "Link a chat user to a game user",
  parameters: { pid, chatId: chatId(), gameId: gameId() },
  success: patchGame.success,
  errors: ["CONFLICT"],
});

export const deleteLink = defineRoute({
  ...signedIn("DELETE", "moderator"),
  id: "deleteOwnedLink",
  path: "/dashboard/api/links",
  summary: "Remove the link of a chat user",
  parameters: { pid, chatId: chatId() },
  source: "body",
  success: deleteGame.success,
  errors: ["LINK_NOT_FOUND"],
});
