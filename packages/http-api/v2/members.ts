/**
 * The v2 route that applies a guild's role plan to a member.
 *
 * @example
 * ```ts
 * refusalsOf(MembersV2.syncMember).find(([status]) => status === 404); // [404, ["BAD_REQUEST"]]
 * ```
 */
import { ChatId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { chatId, ownGuildId } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { successOf } from "./envelope.ts";

const RoleIds = Schema.Array(Schema.String);

export const syncMember = defineRoute({
  id: "syncMember",
  generation: "v2",
  method: "POST",
  path: "/v2/members/sync",
  summary: "Apply the guild's role plan to a member now",
  description:
    "For a bot, when a user joins or asks for it; links that change are applied without it. nickname " +
    "is null if it did not change, and empty if it was removed. Answers 404 unless the plan of the key's scope for the guild is on.",
  source: "body",
  access: "key",
  group: "write",
  parameters: { chatId: chatId("ID of a member of the guild"), guildId: ownGuildId },
  success: successOf({
    chatId: ChatId,
    added: RoleIds,
    removed: RoleIds,
    nickname: Schema.NullOr(Schema.String),
  }),
  example: { chatId: "100001", guildId: "700000000000000001" },
  errors: ["BAD_REQUEST"],
  refuses: ["user_not_in_guild"],
});
