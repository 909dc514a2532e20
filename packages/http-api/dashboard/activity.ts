/**
 * Dashboard routes for the usage and the audit log of an account.
 *
 * @example
 * ```ts
 * Object.keys(DashboardActivity.getUsage.parameters); // ["keyId", "days"]
 * Object.keys(DashboardActivity.getAudit.parameters); // ["limit", "cursor", "action", "keyId", "chatId"]
 * ```
 */
import { auditActions } from "@accountlink/core/audit";
import { KeyId } from "@accountlink/core/ids";
import { usageGroups } from "@accountlink/core/usage";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, countUpTo, optional, required } from "../parameter.ts";
import { keyId, nextNumber, pageLimit, signedIn } from "./signed_in.ts";

export const getUsage = signedIn("admin_of_all", "GET", "/usage", {
  id: "getUsage",
  summary: "Requests per UTC day and group of routes, oldest day first",
  parameters: {
    keyId: optional(keyId("Only requests of this key")),
    days: countUpTo(90, 30, "How many UTC days, today included"),
  },
  example: { days: 1 },
  data: {
    days: Schema.Array(
      Schema.Struct({
        day: Schema.String,
        groups: Schema.Array(
          Schema.Struct({
            group: Schema.Literals(usageGroups),
            served: Schema.Int,
            refused: Schema.Int,
            errors: Schema.Int,
          }),
        ),
      }),
    ),
  },
});

export const getAudit = signedIn("moderator", "GET", "/audit", {
  id: "getAudit",
  summary: "The audit log, newest first; moderators see only changes of links and reviews",
  parameters: {
    limit: pageLimit,
    cursor: nextNumber,
    action: optional(
      required(
        Schema.Literals(auditActions),
        { is: "choice", text: `expected one of ${auditActions.join(", ")}` },
        "Only entries of this action",
      ),
    ),
    keyId: optional(
      keyId(
        "Only what this key changed, or was changed of it. A page looks through 10,000 entries at most, so it may have none while `next` goes on",
      ),
    ),
    chatId: optional(chatId("Only entries about this chat user")),
  },
  example: { limit: 1 },
  data: {
    entries: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        at: IsoTime,
        action: Schema.Literals(auditActions),
        actor: Schema.Struct({
          type: Schema.Literals(["key", "account", "operator", "user"]),
          id: Schema.String,
        }),
        member: Schema.NullOr(Schema.String),
        keyId: Schema.NullOr(KeyId),
        requestId: Schema.NullOr(Schema.String),
        details: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Null])),
      }),
    ),
    next: Schema.NullOr(Schema.String),
  },
});
