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

import { memberRoles } from "@accountlink/core/accounts";
import { ChatId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, inPath, oneOf, optional, textUpTo } from "../parameter.ts";
import { longestSearch, signedIn } from "./signed_in.ts";

const Text = Schema.NullOr(Schema.String);

const Member = Schema.Struct({
  chatId: ChatId,
  role: Schema.Literals(memberRoles),
  since: IsoTime,
  accepted: Schema.Boolean,
  username: Text,
  displayName: Text,
});

const role = oneOf(memberRoles, "What the member may do");

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
  },
  requiresOneOf: ["chatId", "username"],
  status: 201,
  data: { member: Member },
  errors: ["CONFLICT"],
});

export const patchMember = signedIn("owner", "PATCH", "/members/:chatId", {
  id: "patchMember",
  summary: "Change the role of a member",
  parameters: { chatId: inPath(chatId()), role },
  data: { member: Member },
  errors: ["CONFLICT"],
});

export const removeMember = signedIn("owner_or_self", "DELETE", "/members/:chatId", {
  id: "removeMember",
  summary: "Remove a member and end their sign-ins to the account, or withdraw an invitation",
  parameters: { chatId: inPath(chatId()) },
  data: { removed: Schema.Literal(true) },
  errors: ["CONFLICT"],
});
