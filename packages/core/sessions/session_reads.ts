/**
 * Reads of a session: counted, one at a time, and open until something changes.
 */
import { Clock, Context, Effect, Layer, Option, type Scope } from "effect";
import type { RateLimited, StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";
import { makeReadLimits, type ReadKind } from "./read_limits.ts";
import { SessionStore } from "./session_store.ts";
import { SessionWatch } from "./session_watch.ts";
import { isFinal, type VerificationSession } from "./verification_session.ts";

/** One read of a session, open until its scope closes. */
export interface SessionRead {
  /** How many reads are left after this one; null for any number. */
  readonly pollsRemaining: number | null;

  /** The session as it is now; `expired` after its deadline. */
  readonly current: Effect.Effect<VerificationSession, StoreUnavailable>;

  /**
   * Waits for the change after a known one.
   *
   * @param until when the wait times out
   * @returns the changed session; `timeout`; or `ended` when the read has to end
   */
  readonly next: (
    known: VerificationSession,
    until: Millis,
  ) => Effect.Effect<VerificationSession | "timeout" | "ended", StoreUnavailable>;
}

/**
 * Opens reads of sessions.
 *
 * @example
 * ```ts
 * import { SessionStore } from "@accountlink/core/sessions";
 * import { Secrets } from "@accountlink/core/secrets";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect, Option } from "effect";
 *
 * const world = await memoryWorld();
 * const { sid } = await world.sessions.create({ clientId: "7" });
 * const program = Effect.gen(function* () {
 *   const id = yield* (yield* Secrets).sessionId(sid);
 *   const session = Option.getOrThrow(yield* (yield* SessionStore).find(id));
 *   const read = yield* (yield* SessionReads).begin(session, { resumes: false, waits: false });
 *   return read.pollsRemaining;
 * });
 * await world.run(Effect.scoped(program)); // 149
 * await world.close();
 * ```
 */
export class SessionReads extends Context.Service<
  SessionReads,
  {
    /** Begins a read and ends an earlier one. Counts it unless it is refused. */
    readonly begin: (
      session: VerificationSession,
      kind: ReadKind,
    ) => Effect.Effect<SessionRead, RateLimited | StoreUnavailable, Scope.Scope>;

    /** Begins a read that no rule limits, beside others: of the process that embeds the service. */
    readonly observe: (session: VerificationSession) => Effect.Effect<SessionRead, never, Scope.Scope>;

    /** How many reads of the session are left; null for any number. */
    readonly pollsRemaining: (session: VerificationSession) => Effect.Effect<number | null, StoreUnavailable>;
  }
>()("@accountlink/core/SessionReads") {
  static readonly layer = Layer.effect(
    SessionReads,
    Effect.gen(function* () {
      const store = yield* SessionStore;
      const watch = yield* SessionWatch;
      const limits = yield* makeReadLimits;

      const currentOf = Effect.fnUntraced(function* (known: VerificationSession) {
        const stored = Option.getOrElse(yield* store.find(known.id), () => known);
        const at = yield* Clock.currentTimeMillis;
        if (at < stored.expiresAt || isFinal(stored.state)) return stored;
        const advanced = yield* store.advance({ id: known.id, to: "expired", at });
        return Option.match(advanced, { onNone: () => stored, onSome: ({ session }) => session });
      });

      /** @param read its number; `Infinity` for one that no other supersedes */
      const open = Effect.fnUntraced(function* (session: VerificationSession, read: number) {
        const subscription = yield* watch.subscribe(session, read);

        const next = Effect.fnUntraced(function* (known: VerificationSession, until: Millis) {
          const end = Math.min(until, known.expiresAt);
          while (true) {
            const at = yield* Clock.currentTimeMillis;
            if (at < end) {
              const notice = yield* Effect.timeoutOption(subscription.next, end - at);
              if (Option.isNone(notice)) continue;
              if (notice.value === "end") return "ended" as const;
            } else if (at < known.expiresAt) return "timeout" as const;
            const found = yield* currentOf(known);
            if (found.change !== known.change) return found;
            if (at >= end) return "timeout" as const;
          }
        });

        return { pollsRemaining: limits.remainingAfter(read), current: currentOf(session), next };
      });

      return SessionReads.of({
        begin: Effect.fnUntraced(function* (session, kind) {
          const read = yield* limits.admit(session, kind);
          const opened = yield* open(session, read);
          yield* watch.supersede(session.id, read);
          return opened;
        }),

        observe: (session) =>
          Effect.map(open(session, Infinity), (read) => ({ ...read, pollsRemaining: null })),

        pollsRemaining: limits.remaining,
      });
    }),
  );
}
