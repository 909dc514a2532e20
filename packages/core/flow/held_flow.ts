import { Clock, Effect, Option } from "effect";
import { isSid } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { type Cookie, deadlineOf, entryIn, makeFlowId } from "./flow_cookie.ts";
import { FlowRefused } from "./flow_refusal.ts";
import { FlowStore } from "./flow_store.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";
import type { VerificationFlow } from "./verification_flow.ts";

/** A flow that was found by a browser's cookie. With its `entry`, the browser can open this flow again. */
export interface HeldFlow extends VerificationFlow {
  readonly entry: FlowEntry;
}

/**
 * Makes a function that returns the flow of a cookie, or null. The cookie contains a sid and the flow contains a hash
 * of its sid, so a cookie with another sid finds no flow.
 */
export const makeFindFlow = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const secrets = yield* Secrets;
  const idOf = yield* makeFlowId;

  const entryOf = Effect.fnUntraced(function* (
    { session, pid, guildId, redirect }: VerificationFlow,
    claimed: FlowEntry | null,
  ) {
    if (session === null) return { pid, guildId, redirect };
    if (claimed === null || !("sid" in claimed) || !isSid(claimed.sid)) return null;
    return (yield* secrets.sessionId(claimed.sid)) === session ? claimed : null;
  });

  return Effect.fnUntraced(function* (cookie: Cookie) {
    if (cookie === null) return null;
    const now = yield* Clock.currentTimeMillis;
    const flow = Option.getOrNull(yield* flows.find(yield* idOf(cookie), now));
    const entry = flow === null ? null : yield* entryOf(flow, entryIn(cookie, now));
    return flow === null || entry === null ? null : ({ ...flow, entry } satisfies HeldFlow);
  });
});

/**
 * Returns the entry for a request that names no entry. This is the entry of the browser's flow, or without a flow, the
 * last entry in the cookie.
 */
export const lastEntryOf = (held: HeldFlow | null, cookie: Cookie): Effect.Effect<FlowEntry | null> =>
  held === null
    ? Effect.map(Clock.currentTimeMillis, (now) => entryIn(cookie, now))
    : Effect.succeed(held.entry);

export const belongsTo = (flow: VerificationFlow, subject: FlowSubject): boolean =>
  flow.session === subject.session &&
  flow.pid === subject.pid &&
  flow.guildId === subject.guildId &&
  flow.redirect === subject.redirect;

/** Fails with `expired` if the cookie's deadline has passed, else with `lost`. */
export const refuseGone = Effect.fnUntraced(function* (cookie: Cookie, entry: FlowEntry | null) {
  const deadline = deadlineOf(cookie);
  const isOver = deadline !== null && deadline <= (yield* Clock.currentTimeMillis);
  return yield* new FlowRefused({ reason: isOver ? "expired" : "lost", entry });
});
