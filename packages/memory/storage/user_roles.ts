/** What role plans hold about a chat user, for erasures and exports. */
import type { ChatId } from "@accountlink/core";
import { erasedNickname, type UserRoles } from "@accountlink/core/roles";
import { forgetPreviewsOf } from "./role_previews.ts";
import type { Memory } from "./state.ts";

/** Finds the nicknames and problems stored for a chat user, by a scan. */
export const rolesOf = (memory: Memory, chatId: ChatId): ReadonlyArray<UserRoles> =>
  [...memory.rolePlans.values()].flatMap(({ pid, guildId, members, problems }) => {
    const stored = members.get(chatId)?.nickname ?? null;
    const nickname = stored === erasedNickname ? null : stored;
    const theirs = problems.get(chatId) ?? [];
    return nickname === null && theirs.length === 0 ? [] : [{ pid, guildId, nickname, problems: theirs }];
  });

/** Forgets nicknames and problems of a chat user. Pending changes of the user's roles and nickname stay pending. */
export const forgetRoles = (memory: Memory, chatId: ChatId): void => {
  forgetPreviewsOf(memory, chatId);
  for (const { members, problems, settings } of memory.rolePlans.values()) {
    problems.delete(chatId);
    const member = members.get(chatId);
    if (member === undefined) continue;
    const isShown = member.nickname !== null && settings.state === "on";
    if (member.waits === null && !isShown) members.delete(chatId);
    else members.set(chatId, { ...member, nickname: member.nickname && erasedNickname });
  }
};
