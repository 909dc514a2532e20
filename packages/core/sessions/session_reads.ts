/**
 * Reads of a session are counted, and may stay open until the session changes. A later read ends the earlier ones.
 *
 * The session is in the store and its counts are in `Counters`, which nodes may share through Redis, so a read cannot
 * begin in one atomic step. Only `Counters.admit` decides between concurrent reads: it gives each admitted read a
 * number, and that read ends the reads with lower numbers.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import {
  RateLimited,
  SessionExpired,
  SessionNotFound,
  type StoreEffect,
  type StoreUnavailable,
} from "../errors.ts";
import { unkeyed } from "../idempotency/idempotency_store.ts";
import { isSid, type SessionId } from "../ids.ts";
import type { ApiKey } from "../keys/api_key.ts";
import { type CounterRule, type CounterState, Counters, secondsUntil } from "../limits/mod.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Millis } from "../timestamp.ts";
import { SessionSettings } from "./session_settings.ts";
import { isFinal, SessionStore, type VerificationSession } from "./session_store.ts";
import { keptAfterExpiry, SessionWatch, type Subscription } from "./session_watch.ts";

export type ReadError = SessionNotFound | SessionExpired | RateLimited | StoreUnavailable;

/** How a read differs from a plain poll. */
export interface ReadKind {
  /** Whether the read continues an earlier one. It then need not keep the interval after that one. */
  readonly resumes: boolean;
}

/** One read of a session, open until its scope closes. */
export interface SessionRead {
  /** The session as it was when the read began. */
  readonly session: VerificationSession;

  /** The number of reads left after this one; null for no limit. */
  readonly pollsRemaining: number | null;

  /** The session's present state. An open session becomes `expired` at its deadline. */
  readonly current: StoreEffect<VerificationSession>;

  /**
   * Waits until the session differs from the known one.
   *
   * @param until when the wait ends with `timeout`, by `monotonicMillis`
   * @returns the changed session; `timeout`; or `ended` if the read must end
   */
  readonly next: (
    known: VerificationSession,
    until: Millis,
  ) => StoreEffect<VerificationSession | "timeout" | "ended">;
}

type OwnKey = Pick<ApiKey, "id">;

/**
 * Opens reads of sessions. Fails with `SessionNotFound` for sessions of other keys and for invalid sids.
 *
 * @example
 * ```ts
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const { sid, keyId } = await world.sessions.create({ clientId: "7" });
 * const program = Effect.gen(function* () {
 *   const reads = yield* SessionReads;
 *   const read = yield* reads.begin({ id: keyId }, sid, { resumes: false });
 *   return [read.session.state, read.pollsRemaining];
 * });
 * await world.run(Effect.scoped(program)); // ["pending", 149]
 * await world.close();
 * ```
 */
export class SessionReads extends Context.Service<SessionReads>()("@accountlink/core/SessionReads", {
  make: Effect.gen(function* () {
    const store = yield* SessionStore;
    const watch = yield* SessionWatch;
    const secrets = yield* Secrets;
    const limits = yield* makeReadLimits;

    const idOf = Effect.fnUntraced(function* (sid: string) {
      return isSid(sid) ? yield* secrets.sessionId(sid) : yield* new SessionNotFound();
    });

    const findOwn = Effect.fnUntraced(function* (key: OwnKey, id: SessionId) {
      const session = Option.getOrNull(yield* store.find(id));
      const now = yield* Clock.currentTimeMillis;
      if (session === null || session.keyId !== key.id || now >= session.expiresAt + keptAfterExpiry) {
        return yield* new SessionNotFound();
      }
      return now >= session.expiresAt ? yield* new SessionExpired() : session;
    });

    const currentOf = Effect.fnUntraced(function* (known: VerificationSession) {
      const stored = Option.getOrElse(yield* store.find(known.id), () => known);
      const at = yield* Clock.currentTimeMillis;
      if (at < stored.expiresAt || isFinal(stored.state)) return stored;
      const advanced = yield* unkeyed(store.advance({ id: known.id, to: "expired", at }));
      return Option.match(advanced, { onNone: () => stored, onSome: ({ session }) => session });
    });

    const readOf = (session: VerificationSession, subscription: Subscription) => ({
      session,
      current: currentOf(session),
      next: Effect.fnUntraced(function* (known: VerificationSession, until: Millis) {
        while (true) {
          const at = yield* Clock.currentTimeMillis;
          const left = Math.min(until - (yield* monotonicMillis), known.expiresAt - at);
          if (left > 0) {
            const notice = yield* Effect.timeoutOption(subscription.next, left);
            if (Option.isNone(notice)) continue;
            if (notice.value === "end") return "ended" as const;
          } else if (at < known.expiresAt) return "timeout" as const;
          const found = yield* currentOf(known);
          if (found.change !== known.change) return found;
          if (left <= 0) return "timeout" as const;
        }
      }),
    });

    return {
      /** Finds a session without counting a read. */
      find: (key: OwnKey, sid: string) => Effect.flatMap(idOf(sid), (id) => findOwn(key, id)),

      /** Begins a read and ends the earlier ones. Counts the read unless it is refused. */
      begin: Effect.fnUntraced(function* (key: OwnKey, sid: string, kind: ReadKind) {
        const id = yield* idOf(sid);
        // Subscribe before the session is found, so that no later change is missed.
        const subscription = yield* watch.subscribe({ id, keyId: key.id });
        const session = yield* findOwn(key, id);
        const number = yield* limits.admit(session, kind);
        yield* watch.open(subscription, number);
        return { ...readOf(session, subscription), pollsRemaining: limits.remainingAfter(number) };
      }),

      /** Begins an unlimited read for the process that embeds the service. Other reads stay open. */
      observe: Effect.fnUntraced(function* (session: VerificationSession) {
        const subscription = yield* watch.subscribe(session, true);
        yield* watch.open(subscription, null);
        return { ...readOf(session, subscription), pollsRemaining: null };
      }),

      /** Returns the number of reads left; null for no limit. */
      pollsRemaining: limits.remaining,
    };
  }),
}) {
  static readonly layer = Layer.effect(SessionReads, SessionReads.make);
}

/** The limits of a session's reads: their number, and the interval between them. */
const makeReadLimits = Effect.gen(function* () {
  const { life, pollInterval, pollLimit } = yield* SessionSettings;
  const counters = yield* Counters;

  // The counter of a session's reads. Each new read gets the new count as its number, and ends all reads with lower
  // numbers.
  const countRule = ({ id, expiresAt }: VerificationSession, now: Millis): CounterRule => ({
    key: `poll_count:${id}`,
    limit: pollLimit > 0 ? pollLimit : Number.MAX_SAFE_INTEGER,
    durationMs: Math.max(1, expiresAt - now),
  });

  // The interval after the read with the number `read`. The next read is refused until the interval is over.
  const intervalRule = ({ id }: VerificationSession, read: number): CounterRule => ({
    key: `poll_interval:${id}:${read}`,
    limit: 1,
    durationMs: pollInterval,
  });

  const stateOf = (rule: CounterRule, now: Millis) =>
    Effect.map(counters.read([rule], now), ([state]) => state as CounterState);

  /** Returns the number of the last read. Fails if that read began too recently. */
  const checkInterval = Effect.fnUntraced(function* (session: VerificationSession, now: Millis) {
    const { count: last } = yield* stateOf(countRule(session, now), now);
    if (last === 0 || (pollLimit > 0 && last >= pollLimit)) return last;
    const { count, resetsAt } = yield* stateOf(intervalRule(session, last), now);
    if (count > 0) return yield* refusal("poll_interval", 1, resetsAt, now, pollInterval);
    return last;
  });

  const countRead = Effect.fnUntraced(function* (
    session: VerificationSession,
    interval: ReadonlyArray<CounterRule>,
    now: Millis,
  ) {
    const rule = countRule(session, now);
    const { admitted, states } = yield* counters.admit([rule, ...interval], now);
    const [counted, started] = states;
    if (admitted) return counted?.count ?? 1;
    return yield* started !== undefined && counted !== undefined && counted.count < rule.limit
      ? refusal("poll_interval", 1, started.resetsAt, now, pollInterval)
      : refusal("poll_count", rule.limit, session.expiresAt, now, life);
  });

  /**
   * Admits a read and returns its number, or refuses the read without counting it. The interval before the next read
   * starts now, so that a long poll that ended without news can be followed at once.
   */
  const admit = Effect.fnUntraced(function* (session: VerificationSession, kind: ReadKind) {
    const now = yield* Clock.currentTimeMillis;
    const last = pollInterval === 0 || kind.resumes ? null : yield* checkInterval(session, now);
    // The interval starts in the step that counts the read, so that only one of several concurrent reads is admitted.
    const interval = last === null ? [] : [intervalRule(session, last + 1)];
    const read = yield* countRead(session, interval, now);
    const hasStarted = interval.length > 0 && read - 1 === last;
    if (pollInterval > 0 && !hasStarted) {
      yield* Effect.ignore(counters.admit([intervalRule(session, read)], now));
    }
    return read;
  });

  return {
    admit,
    remainingAfter: (read: number): number | null => (pollLimit > 0 ? pollLimit - read : null),
    remaining: Effect.fnUntraced(function* (session: VerificationSession) {
      if (pollLimit === 0) return null;
      const now = yield* Clock.currentTimeMillis;
      return pollLimit - (yield* stateOf(countRule(session, now), now)).count;
    }),
  };
});

const refusal = (
  bucket: "poll_interval" | "poll_count",
  limit: number,
  resetsAt: Millis,
  now: Millis,
  windowMs: number,
) => new RateLimited({ bucket, limit, resetsAt, retryAfter: secondsUntil(resetsAt, now, windowMs) });
