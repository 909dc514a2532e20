/** Verification sessions: the embedding program asks a chat user to prove both accounts. */
import {
  type Conflict,
  InvalidParameter,
  type SessionExpired,
  SessionNotFound,
  SessionReads,
  Sid,
  type StoreUnavailable,
  type VerificationSession,
  VerificationSessions,
} from "@accountlink/core";
import type { RateLimited } from "@accountlink/core/errors";
import { KeyStore } from "@accountlink/core/keys";
import type { GuildError } from "@accountlink/core/platforms";
import { Secrets } from "@accountlink/core/secrets";
import { isFinal, longestClientId, type ReadSession, SessionStore } from "@accountlink/core/sessions";
import { isStorableUpTo } from "@accountlink/core/storable_text";
import { Clock, Context, Duration, Effect, Layer, Option, Schema, Stream } from "effect";
import { makeEmbedderKey } from "./embedder_key.ts";
import { chatIdOf } from "./ids.ts";
import { PublicAddress } from "./public_address.ts";
import { type CallOptions, callGuild, Scope } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

/** A verification session, with the URLs and the code by which the user can open it. */
export interface Session extends Omit<VerificationSession, "id"> {
  /** The secret ID of the session. Anyone who has this ID can read the session and verify in it. */
  readonly sid: Sid;
  /** The URL where the user verifies; null without `http.publicUrl`. */
  readonly url: string | null;
  /** For a user who cannot open `url`, for example in a game: the code to type at `codeUrl`. */
  readonly code: string;
  /** The URL where the user types the code; null without `http.publicUrl`. */
  readonly codeUrl: string | null;
}

/** The fields of a new session. */
export interface SessionRequest extends CallOptions {
  /** The program's own name for the user, 1 to 128 characters. */
  readonly clientId: string;
  /** The only chat user who may complete the session; anyone if left out. */
  readonly chatId?: string;
  /** The URL, at one of `redirectOrigins`, that the browser goes to at the end; a page of the service if left out. */
  readonly redirect?: string;
}

type ReadError = SessionNotFound | StoreUnavailable;

/**
 * The verification sessions of a scope, including sessions created over HTTP. The number of reads of a session is
 * limited over HTTP, but not here.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const sessions = yield* Sessions;
 *   const { sid } = yield* sessions.create({ clientId: "7", chatId: "100001" });
 *   return (yield* sessions.wait(sid, { within: "10 millis" })).state;
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // "pending"
 * ```
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    readonly create: (
      request: SessionRequest,
    ) => Effect.Effect<Session, InvalidParameter | GuildError | Conflict | RateLimited | StoreUnavailable>;

    /** Returns the session; null if it does not exist or ended more than a day ago. */
    readonly get: (sid: string) => Effect.Effect<Session | null, StoreUnavailable>;

    /**
     * Waits until the session is completed, failed, cancelled or expired. By default, a session expires 5 minutes after
     * its creation.
     */
    readonly wait: (
      sid: string,
      options?: {
        /** The maximum wait; then the session is returned in its current state. */
        readonly within?: Duration.Input;
      },
    ) => Effect.Effect<Session, ReadError>;

    /** Streams the session now and after each change, until its final state or the close of the service. */
    readonly watch: (sid: string) => Stream.Stream<Session, ReadError>;

    /** Cancels an open session. Fails with `Conflict` if the session is already completed, failed or cancelled. */
    readonly cancel: (sid: string) => Effect.Effect<Session, ReadError | SessionExpired | Conflict>;
  }
>()("accountlink/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const scope = yield* Scope;
      const store = yield* SessionStore;
      const keyStore = yield* KeyStore;
      const reads = yield* SessionReads;
      const secrets = yield* Secrets;
      const sessions = yield* VerificationSessions;
      const { publicUrl, redirectOrigins } = yield* PublicAddress;
      const embedderKey = yield* makeEmbedderKey(scope);

      const shown = ({ id: _, ...session }: VerificationSession, sid: Sid) =>
        Effect.map(
          secrets.sessionCode(sid),
          (code): Session => ({
            ...session,
            sid,
            url: publicUrl === null ? null : `${publicUrl}/verify?sid=${sid}`,
            code,
            codeUrl: publicUrl === null ? null : `${publicUrl}/go`,
          }),
        );

      const find = Effect.fnUntraced(function* (sid: string) {
        if (!isSid(sid)) return null;
        const session = Option.getOrNull(yield* store.find(yield* secrets.sessionId(sid)));
        return session?.pid === scope.pid ? { sid, session } : null;
      });

      const require = Effect.fnUntraced(function* (sid: string) {
        return (yield* find(sid)) ?? (yield* new SessionNotFound());
      });

      const watch = (text: string) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const { sid, session } = yield* require(text);
            const read = yield* reads.observe(session);
            return Stream.unfold<VerificationSession | null, Session, StoreUnavailable, never>(
              null,
              (known) =>
                Effect.gen(function* () {
                  if (known !== null && isFinal(known.state)) return;
                  const next = yield* known === null ? read.current : read.next(known, Infinity);
                  return next === "ended" || next === "timeout"
                    ? undefined
                    : ([yield* shown(next, sid), next] as const);
                }),
            );
          }),
        );

      return Sessions.of(
        checked<Sessions["Service"]>(
          {
            create: Effect.fnUntraced(function* ({ clientId, chatId, redirect = null, ...options }) {
              if (clientId === "" || !isStorableUpTo(longestClientId, clientId)) {
                return yield* InvalidParameter.one(
                  "clientId",
                  `expected 1 to ${longestClientId} characters, without NUL`,
                );
              }
              const key = { ...(yield* embedderKey), redirectOrigins };
              const created = yield* sessions.create(key, {
                clientId,
                guildId: yield* callGuild(scope, options),
                chatId: chatId === undefined ? null : yield* chatIdOf(chatId),
                redirect,
              });
              return yield* shown(storedOf(created), created.sid);
            }),

            get: Effect.fnUntraced(function* (text) {
              const found = yield* find(text);
              if (found === null) return null;
              const read = yield* reads.observe(found.session);
              return yield* shown(yield* read.current, found.sid);
            }, Effect.scoped),

            wait: Effect.fnUntraced(function* (text, { within = Infinity } = {}) {
              const { sid, session } = yield* require(text);
              const until =
                (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(within));
              const read = yield* reads.observe(session);
              let current = yield* read.current;
              while (!isFinal(current.state)) {
                const next = yield* read.next(current, until);
                if (next === "timeout" || next === "ended") break;
                current = next;
              }
              return yield* shown(current, sid);
            }, Effect.scoped),

            watch,

            cancel: Effect.fnUntraced(function* (text) {
              const { sid, session } = yield* require(text);
              const key = Option.getOrNull(yield* keyStore.findById(session.keyId));
              if (key === null) return yield* new SessionNotFound();
              return yield* shown(storedOf(yield* sessions.cancel(key, sid)), sid);
            }),
          },
          signatures.sessions,
        ),
      );
    }),
  );
}

/** Removes `pollsRemaining`, a field that a session has only when it is read. */
const storedOf = ({ pollsRemaining: _, ...session }: ReadSession): VerificationSession => session;

const isSid = Schema.is(Sid);
