/**
 * The limits of reading one session: the number of reads, and the interval between two.
 */
import { Clock, Effect, type Scope } from "effect";
import { RateLimited, type StoreUnavailable } from "../errors.ts";
import { type CounterRule, type CounterState, Counters } from "../limits/counters.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import type { Millis } from "../timestamp.ts";
import { SessionSettings } from "./session_settings.ts";
import type { VerificationSession } from "./verification_session.ts";

/** How a read differs from a plain poll. */
export interface ReadKind {
  /** Whether it continues an earlier read, and so is exempt from the interval. */
  readonly resumes: boolean;
  /** Whether it may stay open, so that the interval starts later than the read. */
  readonly waits: boolean;
}

export interface ReadLimits {
  /**
   * Counts a read, unless it is refused, and returns its number. The interval starts when the scope
   * closes.
   */
  readonly admit: (
    session: VerificationSession,
    kind: ReadKind,
  ) => Effect.Effect<number, RateLimited | StoreUnavailable, Scope.Scope>;

  /** How many reads are left after the given one; null for any number. */
  readonly remainingAfter: (read: number) => number | null;

  /** How many reads of the session are left; null for any number. */
  readonly remaining: (session: VerificationSession) => Effect.Effect<number | null, StoreUnavailable>;
}

export const makeReadLimits: Effect.Effect<ReadLimits, never, Counters> = Effect.gen(function* () {
  const { life, pollInterval, pollLimit } = yield* SessionSettings;
  const counters = yield* Counters;

  // Its count is also the number of the read, which orders the reads of a session.
  const countRule = ({ id, expiresAt }: VerificationSession, now: Millis): CounterRule => ({
    key: `poll_count:${id}`,
    limit: pollLimit > 0 ? pollLimit : Number.MAX_SAFE_INTEGER,
    durationMs: Math.max(1, expiresAt - now),
  });

  // Each read has its own window, which starts when that read ends. Only the last read matters.
  const intervalRule = ({ id }: VerificationSession, read: number): CounterRule => ({
    key: `poll_interval:${id}:${read}`,
    limit: 1,
    durationMs: pollInterval,
  });

  const stateOf = (rule: CounterRule, now: Millis) =>
    Effect.map(counters.read([rule], now), ([state]) => state as CounterState);

  /** Returns the number of the last read, or refuses if its interval has not passed. */
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

  const admit: ReadLimits["admit"] = Effect.fnUntraced(function* (session, kind) {
    const now = yield* Clock.currentTimeMillis;
    const last = pollInterval === 0 || kind.resumes ? null : yield* checkInterval(session, now);
    // A read that does not wait starts its interval at once, so of concurrent ones one is admitted.
    const interval = last === null || kind.waits ? [] : [intervalRule(session, last + 1)];
    const read = yield* countRead(session, interval, now);
    const startInterval = Effect.flatMap(Clock.currentTimeMillis, (at) =>
      Effect.ignore(counters.admit([intervalRule(session, read)], at)),
    );
    const hasStarted = interval.length > 0 && read - 1 === last;
    if (pollInterval > 0 && !hasStarted) yield* Effect.addFinalizer(() => startInterval);
    return read;
  });

  return {
    admit,
    remainingAfter: (read: number) => (pollLimit > 0 ? pollLimit - read : null),
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
