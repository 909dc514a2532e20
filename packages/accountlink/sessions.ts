/** Verification sessions: the embedding program asks a chat user to prove both accounts. */
import {
  type ChatId,
  type GameId,
  SessionNotFound,
  SessionReads,
  Sid,
  type VerificationSession,
  VerificationSessions,
} from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Secrets } from "@accountlink/core/secrets";
import { isFinal, longestClientId, type ReadSession, SessionStore } from "@accountlink/core/sessions";
import { isStorableUpTo } from "@accountlink/core/storable_text";
import { Context, Duration, Effect, Layer, Option, Schema, Stream } from "effect";
import * as Accept from "./accept.ts";
import { makeEmbedderKey } from "./embedder_key.ts";
import { method, type Parameter, streamMethod } from "./method.ts";
import { type CallOptions, callGuild, Scope } from "./scope.ts";
import { withSpans } from "./spans.ts";

/** The public URL of the service, and the origins to which its sessions may redirect browsers. */
export interface Address {
  /** The public URL of the service, without a trailing slash; null if the program does not serve the HTTP interface. */
  readonly publicUrl: string | null;
  readonly redirectOrigins: ReadonlyArray<string>;
}

export const PublicAddress = Context.Reference<Address>("accountlink/PublicAddress", {
  defaultValue: () => ({ publicUrl: null, redirectOrigins: [] }),
});

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
  /** The only game user that the session may link; any if left out. */
  readonly gameId?: string;
  /** The URL, at one of `redirectOrigins`, that the browser goes to at the end; a page of the service if left out. */
  readonly redirect?: string;
}

export interface WaitOptions {
  /** The maximum wait; then the session is returned in its current state. */
  readonly within?: Duration.Input;
}

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
export class Sessions extends Context.Service<Sessions>()("accountlink/Sessions", {
  make: Effect.gen(function* () {
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

    return {
      /** Creates a session. Send the user to its `url`, or show its `code`. */
      create: method(
        [requesting],
        Effect.fnUntraced(function* (request: SessionRequest) {
          const key = { ...(yield* embedderKey), access: "game" as const, redirectOrigins };
          const created = yield* sessions.create(key, {
            clientId: request.clientId,
            guildId: callGuild(scope, request),
            chatId: (request.chatId ?? null) as ChatId | null,
            gameId: (request.gameId ?? null) as GameId | null,
            redirect: request.redirect ?? null,
          });
          return yield* shown(storedOf(created), created.sid);
        }),
      ),

      /** Returns the session; null if it does not exist or ended more than a day ago. */
      get: method(
        [sid],
        Effect.fnUntraced(function* (sid: string) {
          const found = yield* find(sid);
          if (found === null) return null;
          const read = yield* reads.observe(found.session);
          return yield* shown(yield* read.current, found.sid);
        }, Effect.scoped),
      ),

      /**
       * Waits until the session is completed, failed, cancelled or expired. By default, a session expires 5 minutes
       * after its creation.
       */
      wait: method(
        [sid, waiting],
        Effect.fnUntraced(function* (sid: string, options?: WaitOptions) {
          const found = yield* require(sid);
          const until =
            (yield* monotonicMillis) +
            Duration.toMillis(Duration.fromInputUnsafe(options?.within ?? Infinity));
          const read = yield* reads.observe(found.session);
          let current = yield* read.current;
          while (!isFinal(current.state)) {
            const next = yield* read.next(current, until);
            if (next === "timeout" || next === "ended") break;
            current = next;
          }
          return yield* shown(current, found.sid);
        }, Effect.scoped),
      ),

      /** Streams the session now and after each change, until its final state or the close of the service. */
      watch: streamMethod([sid], (sid: string) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const found = yield* require(sid);
            const read = yield* reads.observe(found.session);
            return Stream.unfold(null, (known: VerificationSession | null) =>
              Effect.gen(function* () {
                if (known !== null && isFinal(known.state)) return;
                const next = yield* known === null ? read.current : read.next(known, Infinity);
                return next === "ended" || next === "timeout"
                  ? undefined
                  : ([yield* shown(next, found.sid), next] as const);
              }),
            );
          }),
        ),
      ),

      /** Cancels an open session. Fails with `Conflict` if the session is already completed, failed or cancelled. */
      cancel: method(
        [sid],
        Effect.fnUntraced(function* (sid: string) {
          const found = yield* require(sid);
          const key = Option.getOrNull(yield* keyStore.findById(found.session.keyId));
          if (key === null) return yield* new SessionNotFound();
          return yield* shown(storedOf(yield* sessions.cancel(key, found.sid)), found.sid);
        }),
      ),
    };
  }).pipe(withSpans("Sessions")),
}) {
  static readonly layer = Layer.effect(Sessions, Sessions.make);
}

const sid: Parameter<string> = ["sid", Accept.text];
const clientId = Accept.textThat(
  (given) => given !== "" && isStorableUpTo(longestClientId, given),
  `1 to ${longestClientId} characters, without NUL`,
);
const requesting: Parameter<SessionRequest> = [
  "request",
  Accept.fields({
    ...Accept.inGuild,
    clientId,
    chatId: Accept.maybe(Accept.anyChatId),
    gameId: Accept.maybe(Accept.anyGameId),
    redirect: Accept.maybe(Accept.text),
  }),
];
const waiting = Accept.options({ within: Accept.maybe(Accept.duration) });

/** Removes `pollsRemaining`, a field that a session has only when it is read. */
const storedOf = ({ pollsRemaining: _, ...session }: ReadSession): VerificationSession => session;

const isSid = Schema.is(Sid);
