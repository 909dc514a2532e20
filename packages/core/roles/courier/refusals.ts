import { Clock, Effect } from "effect";
import type { GuildId } from "../../ids.ts";
import type { ChatRoles, RoleRefusal } from "../../platforms/chat_roles.ts";
import type { Millis } from "../../timestamp.ts";

type Changed = ReturnType<ChatRoles["addRole"]>;

/** How long a change that the platform refused for one member is also refused for other members, in milliseconds. */
const rememberedFor = 5_000;

/**
 * Refuses changes that the platform has just refused for another member. Without this, a role above the bot would cost
 * a request for each member of a guild, and Discord blocks applications with many refused requests.
 */
export const rememberRefusals = (roles: ChatRoles): ChatRoles => {
  const refusals = new Map<string, { readonly refusal: RoleRefusal; readonly until: Millis }>();

  const unlessRefused = (guildId: GuildId, what: string, change: Changed): Changed =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const known = refusals.get(`${guildId} ${what}`);
      if (known !== undefined && now < known.until) return Effect.fail(known.refusal);
      return Effect.tapError(change, (refusal) =>
        Effect.sync(() => {
          if (refusal._tag === "PlatformUnavailable" || refusal._tag === "MemberAboveBot") return;
          refusals.set(`${guildId} ${what}`, { refusal, until: now + rememberedFor });
        }),
      );
    });

  return {
    ...roles,
    addRole: (guildId, chatId, roleId) =>
      unlessRefused(guildId, roleId, roles.addRole(guildId, chatId, roleId)),
    removeRole: (guildId, chatId, roleId) =>
      unlessRefused(guildId, roleId, roles.removeRole(guildId, chatId, roleId)),
    setNickname: (guildId, chatId, nickname) =>
      unlessRefused(guildId, "nickname", roles.setNickname(guildId, chatId, nickname)),
  };
};
