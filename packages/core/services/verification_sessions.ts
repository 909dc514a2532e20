/**
 * Verification sessions as their clients see them: created, read in three ways, and cancelled.
 */
import { Clock, Context, Effect, Layer, Option, Schedule, Schema, type Scope, Stream } from "effect";
import { SecureRandom } from "effect/crypto";
import { type ApiKey, isUnlimited } from "../api_key.ts";
import {
  Conflict,
  InvalidParameter,
  RateLimited,
  SessionExpired,
  SessionNotFound,
  type StoreUnavailable,
} from "../errors.ts";
import { type ChatId, type GuildId, type SessionId, Sid } from "../ids.ts";
import { randomToken } from "../internal/random_token.ts";
import { isKnown, sessionEvents } from "../internal/session_events.ts";
import { warnOnce } from "../internal/warn_once.ts";
import type { Millis } from "../link.ts";
import { longestRedirect } from "../origin.ts";
import { SessionStore } from "../ports/session_store.ts";
import { type SessionRules, SessionSettings } from "../session_settings.ts";
import { isStorable } from "../storable_text.ts";
import { isFinal, type SessionState, type VerificationSession } from "../verification_session.ts";
import { type GuildError, GuildGuard } from "./guild_guard.ts";
import { secondsUntil } from "./request_limits.ts";
import { Secrets } from "./secrets.ts";
import { type SessionRead, SessionReads } from "./session_reads.ts";
import { SessionWatch } from "./session_watch.ts";

/** A session as its client sees it. */
export interface ReadSession extends VerificationSession {
  readonly sid: Sid;
  /** How often it may still be read; null for any number of times. */
  readonly pollsRemaining: number | null;
}

export interface NewSession {
  /** The client's own name for its user. */
  readonly clientId: string;
  readonly guildId: GuildId | null;
  /** The only chat user who may finish it, or null for anybody; with a guild, a member of it. */
  readonly chatId: ChatId | null;
  /** Where the user is sent in the end: an absolute URL, of at most 2,048 characters, whose origin is on the key's list. */
  readonly redirect: string | null;
}

/**
 * What a stream says; `timeout` and a final state are its last event. `idle` says that nothing has happened: every 10
 * seconds, and at once to a client that knows the present state already.
 */
export type SessionEvent =
  | { readonly event: "session"; readonly session: ReadSession }
  | { readonly event: Exclude<SessionState, "pending" | "opened">; readonly session: ReadSession }
  | { readonly event: "idle" }
  | { readonly event: "timeout" };

/** Why a session cannot be read. */
export type ReadError = SessionNotFound | SessionExpired | RateLimited | StoreUnavailable;

/** How long the record of a session is kept after its deadline, in milliseconds. */
export const keptAfterExpiry = 86_400_000;

/** How often what is over is looked for, in milliseconds. */
const sweepInterval = 10_000;

/** What clients do with sessions. Those of another key do not exist for them, like text that is no sid. */
export class VerificationSessions extends Context.Service<
  VerificationSessions,
  {
    readonly create: (
      key: ApiKey,
      request: NewSession,
    ) => Effect.Effect<ReadSession, GuildError | InvalidParameter | RateLimited | StoreUnavailable>;

    /**
     * Reads a session. A final one is given at once.
     *
     * @param wait how long to wait for another state than the present one, in milliseconds
     */
    readonly poll: (key: ApiKey, sid: string, wait: number) => Effect.Effect<ReadSession, ReadError>;

    /**
     * Reads a session as a stream: the present state, each change, and in the end `timeout` or the final state. It is
     * one read, and the effect fails when that is refused. A stream that cannot look at the session any more ends with
     * `timeout`.
     *
     * @param lastEventId the change that the client knows already, or null
     * @returns null when nothing is left to tell: the client knows the final state
     */
    readonly stream: (
      key: ApiKey,
      sid: string,
      lastEventId: string | null,
    ) => Effect.Effect<Stream.Stream<SessionEvent> | null, ReadError, Scope.Scope>;

    readonly cancel: (
      key: ApiKey,
      sid: string,
    ) => Effect.Effect<ReadSession, SessionNotFound | SessionExpired | Conflict | StoreUnavailable>;
  }
>()("@accountlink/core/VerificationSessions") {
  static readonly layer = Layer.effect(
    VerificationSessions,
    Effect.gen(function* () {
      const store = yield* SessionStore;
      const guard = yield* GuildGuard;
      const secrets = yield* Secrets;
      const random = yield* SecureRandom.SecureRandom;
      const rules = yield* SessionSettings;
      const watch = yield* SessionWatch;
      const reads = yield* SessionReads;
      yield* Effect.forkScoped(sweepForever);
      const burst =
        rules.createBurst > 0 && rules.createRefill > 0
          ? { capacity: rules.createBurst, refillMs: rules.createRefill }
          : null;

      const create = Effect.fn("VerificationSessions.create")(function* (key: ApiKey, request: NewSession) {
        yield* checkRedirect(key, request.redirect);
        yield* guard.enter(key.scope, request.guildId);
        if (request.chatId !== null) yield* guard.requireMember(request.guildId, request.chatId);
        const sid = `vs_${yield* randomToken(random)}` as Sid;
        const now = yield* Clock.currentTimeMillis;
        const id = yield* secrets.sessionId(sid);
        const session = newSession(key, id, request, now, now + rules.life);
        const created = yield* store.create({ session, burst: isUnlimited(key) ? null : burst });
        if (created._tag === "TooMany") return yield* tooManySessions(rules, created.readyAt, now);
        return { ...session, sid, pollsRemaining: rules.pollLimit > 0 ? rules.pollLimit : null };
      });

      const findOwn = Effect.fnUntraced(function* (key: ApiKey, sid: string) {
        if (!isSid(sid)) return yield* new SessionNotFound();
        const session = Option.getOrNull(yield* store.find(yield* secrets.sessionId(sid)));
        const now = yield* Clock.currentTimeMillis;
        if (session === null || session.keyId !== key.id || now >= session.expiresAt + keptAfterExpiry) {
          return yield* new SessionNotFound();
        }
        if (now >= session.expiresAt) return yield* new SessionExpired();
        return { sid, session };
      });

      const awaitChange = Effect.fnUntraced(function* (
        read: SessionRead,
        state: SessionState,
        until: Millis,
      ) {
        let session = yield* read.present;
        while (!isFinal(session.state) && session.state === state) {
          const next = yield* read.next(session, until);
          if (next === "waited" || next === "ended") return yield* read.present;
          session = next;
        }
        return session;
      });

      const poll = Effect.fnUntraced(function* (key: ApiKey, sid: string, wait: number) {
        const { sid: own, session: arrived } = yield* findOwn(key, sid);
        const until = (yield* Clock.currentTimeMillis) + wait;
        const read = yield* reads.begin(arrived, { resumes: false, waits: wait > 0 });
        const session = wait > 0 ? yield* awaitChange(read, arrived.state, until) : arrived;
        if (session.state === "expired") return yield* new SessionExpired();
        return { ...session, sid: own, pollsRemaining: read.pollsRemaining };
      }, Effect.scoped);

      const stream = Effect.fnUntraced(function* (key: ApiKey, sid: string, lastEventId: string | null) {
        const { sid: own, session: arrived } = yield* findOwn(key, sid);
        const until = rules.streamMax > 0 ? (yield* Clock.currentTimeMillis) + rules.streamMax : Infinity;
        const read = yield* reads.begin(arrived, { resumes: lastEventId !== null, waits: true });
        const present = yield* read.present;
        return isFinal(present.state) && isKnown(present, lastEventId)
          ? null
          : sessionEvents(read, own, present, until, lastEventId);
      });

      const cancel = Effect.fn("VerificationSessions.cancel")(function* (key: ApiKey, sid: string) {
        const { sid: own, session: arrived } = yield* findOwn(key, sid);
        const at = yield* Clock.currentTimeMillis;
        const { session, changed } = yield* Effect.flatMap(
          store.advance({ id: arrived.id, to: "cancelled", at }),
          Option.match({
            onNone: () => Effect.fail(new SessionNotFound()),
            onSome: Effect.succeed,
          }),
        );
        if (!changed) {
          return yield* isFinal(session.state) && session.state !== "expired"
            ? new Conflict({ reason: `session_${session.state}` })
            : new SessionExpired();
        }
        yield* watch.announce([session.id]);
        return { ...session, sid: own, pollsRemaining: yield* reads.pollsRemaining(session) };
      });

      return VerificationSessions.of({ create, poll, stream, cancel });
    }),
  );
}

const isSid = Schema.is(Sid);

const newSession = (
  { id, scope }: ApiKey,
  sessionId: SessionId,
  request: NewSession,
  createdAt: Millis,
  expiresAt: Millis,
): VerificationSession => ({
  id: sessionId,
  keyId: id,
  pid: scope.pid,
  ...request,
  gameId: null,
  state: "pending",
  linkChanged: false,
  previousGameId: null,
  error: null,
  createdAt,
  expiresAt,
  completedAt: null,
  change: 1,
});

/**
 * Refuses a redirect that is not an absolute http or https URL of at most 2,048 characters whose origin is on the key's
 * list, or that no store can hold.
 *
 * @param redirect null for none
 */
export const checkRedirect = (
  { redirectOrigins }: Pick<ApiKey, "redirectOrigins">,
  redirect: string | null,
): Effect.Effect<void, InvalidParameter> => {
  if (redirect === null) return Effect.void;
  const url = URL.canParse(redirect) ? new URL(redirect) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || !isStorable(redirect)) {
    return Effect.fail(InvalidParameter.one("redirect", "expected an absolute http or https URL"));
  }
  if (Array.from(redirect).length > longestRedirect) {
    return Effect.fail(InvalidParameter.one("redirect", `expected at most ${longestRedirect} characters`));
  }
  return redirectOrigins.includes(url.origin)
    ? Effect.void
    : Effect.fail(InvalidParameter.one("redirect", "expected an origin on the redirect list of the key"));
};

const tooManySessions = ({ createBurst, createRefill }: SessionRules, readyAt: Millis, now: Millis) =>
  new RateLimited({
    bucket: "session_create",
    limit: createBurst,
    resetsAt: readyAt,
    retryAfter: secondsUntil(readyAt, now, createRefill),
  });

const sweepForever = Effect.gen(function* () {
  const store = yield* SessionStore;
  const watch = yield* SessionWatch;
  const { sightingRetention } = yield* SessionSettings;
  const sweep = yield* warnOnce(
    "Sessions that are over are not swept",
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis;
      const expired = yield* store.sweep({
        at,
        sessionsBefore: at - keptAfterExpiry,
        sightingsBefore: at - sightingRetention,
      });
      yield* watch.announce(expired);
    }),
  );
  yield* Effect.repeat(sweep, Schedule.spaced(sweepInterval));
});
