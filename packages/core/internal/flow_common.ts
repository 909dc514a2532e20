/**
 * What the steps and the endings of a flow share.
 */
import { Clock, Effect, Option } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import { type FlowEntry, FlowRefused } from "../flow_refusal.ts";
import type { ChatId } from "../ids.ts";
import { FlowStore } from "../ports/flow_store.ts";
import type { FlowSubject } from "../services/flow_subjects.ts";
import type { GuildGuard } from "../services/guild_guard.ts";
import { Secrets } from "../services/secrets.ts";
import type { VerificationFlow } from "../verification_flow.ts";
import { deadlineOf } from "./flow_cookie.ts";

/** Finds the flow that a cookie stands for; null when there is none. */
export const flowFinder = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const secrets = yield* Secrets;
  return Effect.fnUntraced(function* (cookie: string | null) {
    if (cookie === null) return null;
    return Option.getOrNull(yield* flows.find(yield* secrets.flowId(cookie), yield* Clock.currentTimeMillis));
  });
});

/** How a browser gets into the flow again. */
export const entryOf = ({ sid, pid, guildId, redirect }: VerificationFlow): FlowEntry =>
  sid === null ? { pid, guildId, redirect } : { sid };

export const belongsTo = (flow: VerificationFlow, subject: FlowSubject): boolean =>
  flow.sid === subject.sid &&
  flow.pid === subject.pid &&
  flow.guildId === subject.guildId &&
  flow.redirect === subject.redirect;

/** Refuses a browser that holds no flow: its time is over, or there is none any more, or never was. */
export const refuseGone = Effect.fnUntraced(function* (cookie: string | null, entry: FlowEntry | null) {
  const deadline = deadlineOf(cookie);
  const isOver = deadline !== null && deadline <= (yield* Clock.currentTimeMillis);
  return yield* new FlowRefused({ reason: isOver ? "expired" : "lost", entry });
});

/**
 * Holds a chat user to what the session and its guild ask. Who has just signed in may have brought along whether they are
 * a member; then nobody else is asked, who might not have heard of a user who joined for this.
 */
export const admitUser = (
  guard: GuildGuard["Service"],
  { scope, guildId, chatId }: FlowSubject,
  user: { readonly chatId: ChatId; readonly isMember?: boolean | undefined },
  entry: FlowEntry,
): Effect.Effect<void, FlowRefused> => {
  const refuse = (reason: "wrong_user" | "not_a_member" | "no_guild") => new FlowRefused({ reason, entry });
  if (chatId !== null && chatId !== user.chatId) return refuse("wrong_user");
  if (guildId !== null && user.isMember === false) return refuse("not_a_member");
  const isKnown = user.isMember === true;
  const requireMember = isKnown ? Effect.void : guard.requireMember(guildId, user.chatId);
  return Effect.andThen(guard.enter(scope, guildId), requireMember).pipe(
    Effect.catchTags({
      Forbidden: ({ reason }) => refuse(reason === "user_not_in_guild" ? "not_a_member" : "no_guild"),
      MissingParameter: () => refuse("no_guild"),
      ...refusedPlatform(entry),
    }),
  );
};

/** A platform that does not answer, told with the way back. */
export const refusedPlatform = (entry: FlowEntry) => ({
  PlatformUnavailable: (cause: PlatformUnavailable) =>
    new FlowRefused({ reason: "platform_down", entry, cause }),
});
