/**
 * What the steps and the endings of a flow share.
 */
import { Clock, Effect, Option, Schema } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import { type FlowEntry, FlowRefused } from "../flow_refusal.ts";
import { type ChatId, Sid } from "../ids.ts";
import { FlowStore } from "../ports/flow_store.ts";
import type { FlowSubject } from "../services/flow_subjects.ts";
import type { GuildGuard } from "../services/guild_guard.ts";
import { Secrets } from "../services/secrets.ts";
import type { VerificationFlow } from "../verification_flow.ts";
import { deadlineOf, entryIn, flowIdOf } from "./flow_cookie.ts";

/** A flow of a browser, and how the browser gets into it again. */
export interface HeldFlow extends VerificationFlow {
  readonly entry: FlowEntry;
}

/**
 * Finds the flow that a cookie stands for; null when there is none. The cookie says the sid of its session, of which the
 * flow has the hash: a cookie that says another one stands for no flow.
 */
export const flowFinder = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const secrets = yield* Secrets;
  const idOf = yield* flowIdOf;

  const entryOf = Effect.fnUntraced(function* (
    { session, pid, guildId, redirect }: VerificationFlow,
    marked: FlowEntry | null,
  ) {
    if (session === null) return { pid, guildId, redirect };
    if (marked === null || !("sid" in marked) || !isSid(marked.sid)) return null;
    return (yield* secrets.sessionId(marked.sid)) === session ? marked : null;
  });

  return Effect.fnUntraced(function* (cookie: string | null) {
    if (cookie === null) return null;
    const now = yield* Clock.currentTimeMillis;
    const flow = Option.getOrNull(yield* flows.find(yield* idOf(cookie), now));
    const entry = flow === null ? null : yield* entryOf(flow, entryIn(cookie, now));
    return flow === null || entry === null ? null : ({ ...flow, entry } satisfies HeldFlow);
  });
});

const isSid = Schema.is(Sid);

/** Where a browser is that does not say so: in the flow that it has begun, else where it has entered. */
export const lastEntryOf = (held: HeldFlow | null, cookie: string | null): Effect.Effect<FlowEntry | null> =>
  held === null
    ? Effect.map(Clock.currentTimeMillis, (now) => entryIn(cookie, now))
    : Effect.succeed(held.entry);

export const belongsTo = (flow: VerificationFlow, subject: FlowSubject): boolean =>
  flow.session === subject.session &&
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
 * Refuses a chat user whom the session does not name, or who is not a member of its guild. Without `user.isMember` the
 * chat platform is asked. A sign-in may tell it, and is then believed: what is known of the platform may be a few seconds
 * old, and the user may have joined just for this.
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
  return Effect.andThen(guard.enter(scope, guildId), isMember).pipe(
    Effect.flatMap((is) => (is ? Effect.void : refuse("not_a_member"))),
    Effect.catchTags({
      Forbidden: () => refuse("no_guild"),
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
