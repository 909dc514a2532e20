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

export const getScopes = signedIn("moderator", "GET", "/scopes", {
  id: "getScopes",
  summary: "The data scopes of the account",
  parameters: {},
  data: { scopes: Schema.Array(Scope) },
});

export const patchScope = signedIn("admin", "PATCH", "/scopes/:pid", {
  id: "patchScope",
  summary: "Change the texts that users read when they verify",
  parameters: {
    pid: pidInPath,
    displayName: unlessLeftOut(displayName),
    supportUrl: unlessLeftOut(supportUrl),
    doneText: unlessLeftOut(doneText),
  },
  data: { scope: Scope },
});

export const getLinks = signedIn("moderator", "GET", "/links", {
  id: "getOwnedLinks",
  summary: "The links of a data scope, latest verification first",
  parameters: { pid, q: search, limit: pageLimit, cursor: linkCursor },
  data: {
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
  },
});

export const putLink = signedIn("moderator", "PUT", "/links", {
  id: "putOwnedLink",
  summary: "Link a chat user to a game user",
  parameters: { pid, chatId: chatId(), gameId: gameId() },
  data: patchGame.success.fields.data.fields,
  errors: ["CONFLICT"],
});

export const deleteLink = signedIn("moderator", "DELETE", "/links", {
  id: "deleteOwnedLink",
  summary: "Remove the link of a chat user",
  parameters: { pid, chatId: chatId() },
  source: "body",
  data: deleteGame.success.fields.data.fields,
  errors: ["LINK_NOT_FOUND"],
});
