/**
 * Dashboard routes for the members of an account.
 *
 * @example
 * ```ts
 * const changes = [DashboardMembers.addMember, DashboardMembers.patchMember, DashboardMembers.removeMember];
 * changes.map(({ role }) => role); // ["owner", "owner", "owner_or_self"]
 * DashboardMembers.getMembers.role; // "moderator"
 * ```
 */

import { memberRoles, mostScopes } from "@accountlink/core/accounts";
import { ChatId, Pid } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, inPath, oneOf, optional, textUpTo } from "../parameter.ts";
import { longestSearch, orNull, signedIn, unlessLeftOut } from "./signed_in.ts";

const Text = Schema.NullOr(Schema.String);

const Member = Schema.Struct({
  chatId: ChatId,
  role: Schema.Literals(memberRoles),
  scopes: Schema.NullOr(Schema.Array(Pid)),
  since: IsoTime,
  accepted: Schema.Boolean,
  username: Text,
  displayName: Text,
});

const role = oneOf(memberRoles, "What the member may do");

/** Any texts are accepted: a malformed ID counts as an unknown scope. */
const scopes = orNull(
  Schema.Array(Schema.String).check(Schema.isMinLength(1), Schema.isMaxLength(mostScopes)),
  { is: "scopes", most: mostScopes, text: `expected null or 1 to ${mostScopes} public ids of data scopes` },
  "The data scopes of which a moderator or admin sees something, by their public ids; null for all",
);

export const getMembers = signedIn("moderator", "GET", "/members", {
  id: "getMembers",
  summary: "The members of the account and the open invitations, oldest first",
  parameters: {},
  data: { members: Schema.Array(Member) },
});

export const addMember = signedIn("owner", "POST", "/members", {
  id: "addMember",
  summary: "Invite a chat user to the account",
  parameters: {
    chatId: optional(chatId()),
    username: optional(textUpTo(longestSearch, "User name on the chat platform")),
    role,
    scopes: unlessLeftOut(scopes),
  },
  requiresOneOf: ["chatId", "username"],
  status: 201,
  example: { username: "linus", role: "moderator" },
  data: { member: Member },
  refuses: ["platform_refusals", "member_exists", "member_limit", "account_limit"],
});

export const patchMember = signedIn("owner", "PATCH", "/members/:chatId", {
  id: "patchMember",
  summary: "Change the role of a member, or of which communities the member sees something",
  parameters: { chatId: inPath(chatId()), role: unlessLeftOut(role), scopes: unlessLeftOut(scopes) },
  example: { role: "admin" },
  data: { member: Member },
  errors: ["MISSING_PARAMETER"],
  refuses: ["last_owner", "account_limit"],
});

export const removeMember = signedIn("owner_or_self", "DELETE", "/members/:chatId", {
  id: "removeMember",
  summary: "Remove a member and end their sign-ins to the account, or withdraw an invitation",
  parameters: { chatId: inPath(chatId()) },
  data: { removed: Schema.Literal(true) },
  refuses: ["last_owner"],
});
