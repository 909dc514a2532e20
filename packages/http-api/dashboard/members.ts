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
import { chatId, inPath, oneOf, optional } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { success } from "../v2/envelope.ts";
import { username } from "./parameters.ts";
import { signedIn } from "./signed_in.ts";

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

export const getMembers = defineRoute({
  ...signedIn("GET", "moderator"),
  id: "getMembers",
  path: "/dashboard/api/members",
  summary: "The members of the account and the open invitations, oldest first",
  parameters: {},
  success: success(Schema.Struct({ members: Schema.Array(Member) })),
});

export const addMember = defineRoute({
  ...signedIn("POST", "owner"),
  id: "addMember",
  path: "/dashboard/api/members",
  summary: "Invite a chat user to the account",
  parameters: { chatId: optional(chatId()), username: optional(username), role },
  requiresOneOf: ["chatId", "username"],
  status: 201,
  success: success(Schema.Struct({ member: Member }), 201),
  errors: ["CONFLICT"],
});

export const patchMember = defineRoute({
  ...signedIn("PATCH", "owner"),
  id: "patchMember",
  path: "/dashboard/api/members/:chatId",
  summary: "Change the role of a member",
  parameters: { chatId: inPath(chatId()), role },
  success: success(Schema.Struct({ member: Member })),
  errors: ["CONFLICT"],
});

export const removeMember = defineRoute({
  ...signedIn("DELETE", "owner_or_self"),
  id: "removeMember",
  path: "/dashboard/api/members/:chatId",
  summary: "Remove a member and end their sign-ins to the account, or withdraw an invitation",
  parameters: { chatId: inPath(chatId()) },
  success: success(Schema.Struct({ removed: Schema.Literal(true) })),
  errors: ["CONFLICT"],
});
