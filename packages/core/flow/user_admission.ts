import { Effect } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import type { GuildGuard } from "../platforms/guild_guard.ts";
import { FlowRefused } from "./flow_refusal.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";

/**
 * Refuses a chat user if the session is for another user, or if the user is not a member of the guild.
 *
 * @param user.isMember the membership that the sign-in reported, which is newer than the platform's cached answers; if
 * undefined, the platform is asked
 */
export const admitUser = (
  guard: GuildGuard["Service"],
  { scope, guildId, chatId }: FlowSubject,
  user: { readonly chatId: ChatId; readonly isMember?: boolean | undefined },
  entry: FlowEntry,
): Effect.Effect<void, FlowRefused> => {
  const refuse = (reason: "wrong_user" | "not_a_member" | "no_guild") => new FlowRefused({ reason, entry });
  if (chatId !== null && chatId !== user.chatId) return refuse("wrong_user");
  const isMember =
    user.isMember === undefined ? guard.isMember(guildId, user.chatId) : Effect.succeed(user.isMember);
  return Effect.andThen(guard.enterAsUser(scope, guildId), isMember).pipe(
    Effect.flatMap((is) => (is ? Effect.void : refuse("not_a_member"))),
    Effect.catchTags({
      Forbidden: () => refuse("no_guild"),
      MissingParameter: () => refuse("no_guild"),
      ...refusePlatformDown(entry),
    }),
  );
};

/** Makes a handler for `Effect.catchTags` that refuses the step with the reason `platform_down`. */
export const refusePlatformDown = (entry: FlowEntry) => ({
  PlatformUnavailable: (cause: PlatformUnavailable) =>
    new FlowRefused({ reason: "platform_down", entry, cause }),
});
