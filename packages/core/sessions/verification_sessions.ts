import { Clock, Context, Effect, Layer, Option, Random } from "effect";
import { SecureRandom } from "effect/crypto";
import {
  Conflict,
  Forbidden,
  InvalidParameter,
  RateLimited,
  SessionExpired,
  SessionNotFound,
  type StoreEffect,
} from "../errors.ts";
import type { Once } from "../idempotency/idempotency_store.ts";
import { type ChatId, type GameId, type GuildId, type Sid, sessionInLog } from "../ids.ts";
import { type ApiKey, isUnlimited, mayNamePlayers } from "../keys/api_key.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import { GamePlatform, GuildGuard } from "../platforms/mod.ts";
import { randomToken, Secrets } from "../secrets/mod.ts";
import type { Millis } from "../timestamp.ts";
import { redirectProblems } from "./redirect.ts";
import { isKnown, type ReadSession, sessionEvents } from "./session_events.ts";
import { type SessionRead, SessionReads } from "./session_reads.ts";
import { type SessionRules, SessionSettings } from "./session_settings.ts";
import { isFinal, type SessionAdvanced, SessionStore, type VerificationSession } from "./session_store.ts";
import { SessionWatch, sweepForever } from "./session_watch.ts";

export interface NewSession {
  /** The client's own name for its user, 1 to 128 characters. */
  readonly clientId: string;
  readonly guildId: GuildId | null;
  /** The only chat user who may complete the session; must be a member of `guildId` if given. Null for anyone. */
  readonly chatId: ChatId | null;
  /** The only game user that the session may link, see `mayNamePlayers`; null for any. */
  readonly gameId: GameId | null;
  /** Where the browser goes after the flow, see `redirectProblems`; null for the service's own page. */
  readonly redirect: string | null;
}

/**
 * Creates, reads and cancels the sessions of a key. Other keys' sessions and invalid sids fail with `SessionNotFound`.
 *
 * @example
 * ```ts
 * import { KeyAuthenticator } from "@accountlink/core";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const { token } = await world.keys.create({ name: "bot" });
 * const request = { clientId: "7", guildId: null, chatId: null, gameId: null, redirect: null };
 * const program = Effect.gen(function* () {
 *   const sessions = yield* VerificationSessions;
 *   const { key } = yield* (yield* KeyAuthenticator).authenticate(token, null);
 *   const { sid } = yield* sessions.create(key, request);
 *   yield* sessions.cancel(key, sid);
 *   const { state, pollsRemaining } = yield* sessions.poll(key, sid, 0);
 *   return [state, pollsRemaining];
 * });
 * await world.run(program); // ["cancelled", 149]
 * await world.close();
 * ```
 */
export class VerificationSessions extends Context.Service<VerificationSessions>()(
  "@accountlink/core/VerificationSessions",
  {
    make: Effect.gen(function* () {
      const store = yield* SessionStore;
      const guard = yield* GuildGuard;
      const games = yield* GamePlatform;
      const secrets = yield* Secrets;
      const random = yield* SecureRandom.SecureRandom;
      const rules = yield* SessionSettings;
      const watch = yield* SessionWatch;
      const reads = yield* SessionReads;
      yield* sweepForever;
      const burst =
        rules.createBurst > 0 && rules.createRefill > 0
          ? { capacity: rules.createBurst, refillMs: rules.createRefill }
          : null;

      const namesOf = (sid: Sid) => Effect.map(secrets.sessionCode(sid), (code) => ({ sid, code }));

      const newNames = Effect.gen(function* () {
        const sid = `vs_${yield* randomToken(random)}` as Sid;
        return { id: yield* secrets.sessionId(sid), ...(yield* namesOf(sid)) };
      });

      /** Adds what the answer says besides the session. It is encrypted: anyone who has a `sid` can open its flow. */
      const giving = Effect.fnUntraced(function* (once: Once | undefined, given: Given) {
        return once && { ...once, sealed: yield* secrets.sealAnswer(once.id, JSON.stringify(given)) };
      });

      const awaitChange = Effect.fnUntraced(function* (read: SessionRead, until: Millis) {
        let { session } = read;
        while (!isFinal(session.state) && session.state === read.session.state) {
          const next = yield* read.next(session, until);
          if (next === "timeout" || next === "ended") return yield* read.current;
          session = next;
        }
        return session;
      });

      return {
        /**
         * Creates a session. Fails with `Conflict` only if the idempotency key is taken.
         *
         * @returns the session with its `sid`, which is not stored and cannot be read again
         */
        create: Effect.fn("VerificationSessions.create")(function* (
          key: ApiKey,
          request: NewSession,
          once?: Once,
        ) {
          if (request.gameId !== null && !mayNamePlayers(key)) {
            return yield* new Forbidden({ reason: "key_access" });
          }
          const problems = redirectProblems(key, request.redirect);
          if (problems.length > 0) return yield* new InvalidParameter({ parameters: problems });
          yield* guard.enter(key.scope, request.guildId);
          if (request.chatId !== null) yield* guard.requireMember(request.guildId, request.chatId);
          if (request.gameId !== null && !(yield* games.hasUser(request.gameId))) {
            return yield* InvalidParameter.one("gameId", { is: "game_user" });
          }
          const now = yield* Clock.currentTimeMillis;
          const createAt = (at: Millis): StoreEffect<ReadSession, RateLimited | Conflict> =>
            Effect.gen(function* () {
              const named = yield* newNames;
              const session: VerificationSession = {
                id: named.id,
                keyId: key.id,
                pid: key.scope.pid,
                ...request,
                state: "pending",
                linkChanged: false,
                previousGameId: null,
                proof: null,
                error: null,
                createdAt: at,
                expiresAt: at + rules.life,
                completedAt: null,
                change: 1,
              };
              const code = yield* secrets.sealSid(named.code, named.sid);
              const pollsRemaining = rules.pollLimit > 0 ? rules.pollLimit : null;
              const given = { sid: named.sid, code: named.code, pollsRemaining };
              const outcome = yield* store.create({
                session,
                burst: isUnlimited(key) ? null : burst,
                code,
                once: yield* giving(once, given),
              });
              if (outcome._tag === "Created") {
                const line = { session: sessionInLog(session.id), key: key.id };
                yield* Effect.annotateLogs(Effect.logInfo("Session created"), line);
                return { ...session, ...given };
              }
              if (outcome._tag === "CodeTaken") return yield* createAt(at);
              const { readyAt } = outcome;
              return yield* at === now && readyAt - now <= maxReordering
                ? createAt(readyAt)
                : tooManySessions(rules, readyAt, now);
            });
          return yield* createAt(now);
        }),

        /**
         * Reads a session.
         *
         * @param wait how long to wait for a change of state, in milliseconds; a final state is returned at once
         */
        poll: Effect.fnUntraced(function* (key: ApiKey, sid: string, wait: number) {
          const read = yield* reads.begin(key, sid, { resumes: false });
          // From the begin of the read on, as its interval, so that a wait as long as the interval ends after it.
          const until = (yield* monotonicMillis) + wait;
          const session = wait > 0 ? yield* awaitChange(read, until) : read.session;
          if (session.state === "expired") return yield* new SessionExpired();
          return { ...session, ...(yield* namesOf(sid as Sid)), pollsRemaining: read.pollsRemaining };
        }, Effect.scoped),

        /**
         * Reads a session as a stream: the current state, each change, and finally `timeout` or the final state. The
         * stream counts as one read, and fails if that read is refused. If the store fails later, the stream ends with
         * `timeout`.
         *
         * @param lastEventId the change that the client already knows, or null
         * @returns null if the client already knows the final state
         */
        stream: Effect.fnUntraced(function* (key: ApiKey, sid: string, lastEventId: string | null) {
          const until = rules.streamMax > 0 ? (yield* monotonicMillis) + rules.streamMax : Infinity;
          const read = yield* reads.begin(key, sid, { resumes: lastEventId !== null });
          return isFinal(read.session.state) && isKnown(read.session, lastEventId)
            ? null
            : sessionEvents(read, yield* namesOf(sid as Sid), until, lastEventId);
        }),

        /** Cancels an open session. Fails with `Conflict` if it reached another final state. */
        cancel: Effect.fn("VerificationSessions.cancel")(function* (key: ApiKey, sid: string, once?: Once) {
          const found = yield* reads.find(key, sid);
          const pollsRemaining = yield* reads.pollsRemaining(found);
          const given = { ...(yield* namesOf(sid as Sid)), pollsRemaining };
          const advanced = yield* store.advance({
            id: found.id,
            to: "cancelled",
            at: yield* Clock.currentTimeMillis,
            once: yield* giving(once, given),
          });
          const cancelled = yield* requireCancelled(advanced);
          yield* watch.announce([cancelled.id]);
          return { ...cancelled, ...given };
        }),
      };
    }),
  },
) {
  static readonly layer = Layer.effect(VerificationSessions, VerificationSessions.make);
}

type Given = Pick<ReadSession, "sid" | "code" | "pollsRemaining">;

/**
 * Concurrent creations may reach the store in the wrong order. If the store refuses a creation, but would accept it at
 * most this many milliseconds later, the creation is repeated with the later time.
 */
const maxReordering = 100;

const requireCancelled = (
  advanced: Option.Option<SessionAdvanced>,
): Effect.Effect<VerificationSession, SessionNotFound | SessionExpired | Conflict> => {
  if (Option.isNone(advanced)) return new SessionNotFound();
  const { session, changed } = advanced.value;
  if (changed) return Effect.succeed(session);
  return isFinal(session.state) && session.state !== "expired"
    ? new Conflict({ reason: `session_${session.state}` })
    : new SessionExpired();
};

/**
 * Tells the client to retry at a random time within the next `createRefill` milliseconds, so that clients that are
 * refused together do not retry together.
 */
const tooManySessions = ({ createBurst, createRefill }: SessionRules, readyAt: Millis, now: Millis) =>
  Effect.flatMap(
    Random.nextBetween(readyAt, Math.max(readyAt, now + createRefill)),
    (spreadAt) =>
      new RateLimited({
        bucket: "session_create",
        limit: createBurst,
        resetsAt: readyAt,
        retryAfter: secondsUntil(spreadAt, now, createRefill),
      }),
  );
