/**
 * The rules of reading a session: how often, how soon again, and one read at a time.
 */
import { Clock, Context, Effect, Layer, Option, type Scope } from "effect";
import { RateLimited, type StoreUnavailable } from "../errors.ts";
import type { Millis } from "../link.ts";
import { type CounterRule, type CounterState, Counters } from "../ports/counters.ts";
import { SessionStore } from "../ports/session_store.ts";
import { SessionSettings } from "../session_settings.ts";
import { isFinal, type VerificationSession } from "../verification_session.ts";
import { secondsUntil } from "./request_limits.ts";
import { SessionWatch } from "./session_watch.ts";

/** One read of a session, open until its scope closes. */
export interface SessionRead {
  /** How many reads are left after this one; null for any number. */
  readonly pollsRemaining: number | null;

  /** The session as it is now, `expired` when its deadline has passed. */
  readonly present: Effect.Effect<VerificationSession, StoreUnavailable>;

  /**
   * Waits for the change after a known one.
   *
   * @param until when the wait is over
   * @returns the session as it has become; `waited` when the wait is over, `ended` when the read has to end
   */
  readonly next: (
    known: VerificationSession,
    until: Millis,
  ) => Effect.Effect<VerificationSession | "waited" | "ended", StoreUnavailable>;
}

/** What kind of a read it is. */
export interface ReadKind {
  /** Whether it goes on with an earlier one, and need not keep the interval. */
  readonly resumes: boolean;
  /** Whether it may stay open, so that the interval after it begins later than it does. */
  readonly waits: boolean;
}

/** Opens reads of sessions. */
export class SessionReads extends Context.Service<
  SessionReads,
  {
    /** Begins a read, which ends the one that is open. It is counted unless it is refused. */
    readonly begin: (
      session: VerificationSession,
      kind: ReadKind,
    ) => Effect.Effect<SessionRead, RateLimited | StoreUnavailable, Scope.Scope>;

    /** How many reads of the session are left; null for any number. */
    readonly pollsRemaining: (session: VerificationSession) => Effect.Effect<number | null, StoreUnavailable>;
  }
>()("@accountlink/core/SessionReads") {
  static readonly layer = Layer.effect(
    SessionReads,
    Effect.gen(function* () {
      const { life, pollInterval, pollLimit } = yield* SessionSettings;
      const counters = yield* Counters;
      const store = yield* SessionStore;
      const watch = yield* SessionWatch;

      // Its count is also the number of the read, by which later reads are told from earlier ones.
      const countRule = ({ id, expiresAt }: VerificationSession, now: Millis): CounterRule => ({
        key: `poll_count:${id}`,
        limit: pollLimit > 0 ? pollLimit : Number.MAX_SAFE_INTEGER,
        durationMs: Math.max(1, expiresAt - now),
      });

      // A window for each read, which begins when that read ends: only the last read is asked for.
      const intervalRule = ({ id }: VerificationSession, read: number): CounterRule => ({
        key: `poll_interval:${id}:${read}`,
        limit: 1,
        durationMs: pollInterval,
      });

      const stateOf = (rule: CounterRule, now: Millis) =>
        Effect.map(counters.read([rule], now), ([state]) => state as CounterState);

      /** Gives the number of the last read, the interval after which is over. */
      const keepInterval = Effect.fnUntraced(function* (session: VerificationSession, now: Millis) {
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
        const [counted, begun] = states;
        if (admitted) return counted?.count ?? 1;
        return yield* begun !== undefined && counted !== undefined && counted.count < rule.limit
          ? refusal("poll_interval", 1, begun.resetsAt, now, pollInterval)
          : refusal("poll_count", rule.limit, session.expiresAt, now, life);
      });

      const presentOf = Effect.fnUntraced(function* (known: VerificationSession) {
        const stored = Option.getOrElse(yield* store.find(known.id), () => known);
        const at = yield* Clock.currentTimeMillis;
        if (at < stored.expiresAt || isFinal(stored.state)) return stored;
        const advanced = yield* store.advance({ id: known.id, to: "expired", at });
        return Option.match(advanced, { onNone: () => stored, onSome: ({ session }) => session });
      });

      const begin = Effect.fnUntraced(function* (session: VerificationSession, kind: ReadKind) {
        const now = yield* Clock.currentTimeMillis;
        const last = pollInterval === 0 || kind.resumes ? null : yield* keepInterval(session, now);
        // A read that does not wait ends as it begins, so the interval after it begins with it: of several that come at
        // once one is admitted.
        const own = last === null || kind.waits ? [] : [intervalRule(session, last + 1)];
        const number = yield* countRead(session, own, now);
        const beginInterval = Effect.flatMap(Clock.currentTimeMillis, (at) =>
          Effect.ignore(counters.admit([intervalRule(session, number)], at)),
        );
        const hasBegun = own.length > 0 && number - 1 === last;
        if (pollInterval > 0 && !hasBegun) yield* Effect.addFinalizer(() => beginInterval);
        const watcher = yield* watch.watch(session, number);
        yield* watch.supersede(session.id, number);

        const next = Effect.fnUntraced(function* (known: VerificationSession, until: Millis) {
          const end = Math.min(until, known.expiresAt);
          while (true) {
            const at = yield* Clock.currentTimeMillis;
            if (at < end) {
              const notice = yield* Effect.timeoutOption(watcher.next, end - at);
              if (Option.isNone(notice)) continue;
              if (notice.value === "end") return "ended" as const;
            } else if (at < known.expiresAt) return "waited" as const;
            const found = yield* presentOf(known);
            if (found.change !== known.change) return found;
            if (at >= end) return "waited" as const;
          }
        });

        return {
          pollsRemaining: pollLimit > 0 ? pollLimit - number : null,
          present: presentOf(session),
          next,
        };
      });

      return SessionReads.of({
        begin,
        pollsRemaining: Effect.fnUntraced(function* (session) {
          if (pollLimit === 0) return null;
          const now = yield* Clock.currentTimeMillis;
          const [state] = yield* counters.read([countRule(session, now)], now);
          return pollLimit - (state?.count ?? 0);
        }),
      });
    }),
  );
}

const refusal = (
  bucket: "poll_interval" | "poll_count",
  limit: number,
  resetsAt: Millis,
  now: Millis,
  windowMs: number,
) => new RateLimited({ bucket, limit, resetsAt, retryAfter: secondsUntil(resetsAt, now, windowMs) });
