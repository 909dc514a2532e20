/**
 * What a verification flow is about: who asks, whom, and until when.
 */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect";
import { type ApiKey, isAccepted } from "../api_key.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import type { StoreUnavailable } from "../errors.ts";
import { type FlowEntry, FlowRefused } from "../flow_refusal.ts";
import { type ChatId, GuildId, Pid, type SessionId, Sid } from "../ids.ts";
import type { Millis } from "../link.ts";
import { KeyStore } from "../ports/key_store.ts";
import { SessionStore } from "../ports/session_store.ts";
import { SessionSettings } from "../session_settings.ts";
import { isFinal, type VerificationSession } from "../verification_session.ts";
import { Secrets } from "./secrets.ts";
import { checkRedirect, keptAfterExpiry } from "./verification_sessions.ts";

export interface FlowSubject {
  readonly sid: Sid | null;
  /** What the session is stored under; null without one. */
  readonly session: SessionId | null;
  readonly pid: Pid;
  readonly scope: DataScope;
  /** The name of the account that asks. */
  readonly asking: string;
  readonly guildId: GuildId | null;
  readonly redirect: string | null;
  /** The only chat user who may finish it, or null for anybody. */
  readonly chatId: ChatId | null;
  /** When the time is over; for a flow that is not begun yet, when it would be. */
  readonly expiresAt: Millis;
}

/** Finds out what a flow is about, and whether it is still open. */
export class FlowSubjects extends Context.Service<
  FlowSubjects,
  {
    readonly resolve: (entry: FlowEntry) => Effect.Effect<FlowSubject, FlowRefused | StoreUnavailable>;
  }
>()("@accountlink/core/FlowSubjects") {
  static readonly layer = Layer.effect(
    FlowSubjects,
    Effect.gen(function* () {
      const keys = yield* KeyStore;
      const sessions = yield* SessionStore;
      const secrets = yield* Secrets;
      const { life } = yield* SessionSettings;

      const bySession = Effect.fnUntraced(function* (sid: string) {
        const entry = { sid };
        const unknown = new FlowRefused({ reason: "unknown", entry: null });
        if (!isSid(sid)) return yield* unknown;
        const session = Option.getOrNull(yield* sessions.find(yield* secrets.sessionId(sid)));
        if (session === null) return yield* unknown;
        const now = yield* Clock.currentTimeMillis;
        if (now >= session.expiresAt + keptAfterExpiry) return yield* unknown;
        if (now >= session.expiresAt || isFinal(session.state)) return yield* refuseOver(session, entry);
        const key = Option.getOrNull(yield* keys.findById(session.keyId));
        if (key === null || !isAccepted(key, now)) return yield* unknown;
        const { id, pid, guildId, redirect, chatId, expiresAt } = session;
        const { scope } = key;
        return { sid, session: id, pid, scope, asking: scope.account, guildId, redirect, chatId, expiresAt };
      });

      const activeKeys = ({ account, pid }: DataScope, now: Millis) =>
        Effect.map(keys.listKeys(account), (owned) =>
          owned.filter((key) => key.scope.pid === pid && isAccepted(key, now)),
        );

      const byScope = Effect.fnUntraced(function* (entry: Exclude<FlowEntry, { readonly sid: string }>) {
        const { pid, redirect } = entry;
        const now = yield* Clock.currentTimeMillis;
        const scope = isPid(pid) ? Option.getOrNull(yield* keys.findScopeByPid(pid)) : null;
        const active = scope === null ? [] : yield* activeKeys(scope, now);
        if (scope === null || active.length === 0) {
          return yield* new FlowRefused({ reason: "unknown", entry: null });
        }
        const own = guildOf(scope);
        const guildId = entry.guildId ?? own;
        if (guildId !== null && (!isGuildId(guildId) || (own !== null && guildId !== own))) {
          return yield* new FlowRefused({ reason: "no_guild", entry: null });
        }
        if (redirect !== null && Option.isNone(yield* mayRedirect(active, redirect))) {
          return yield* new FlowRefused({ reason: "bad_redirect", entry: null });
        }
        return {
          sid: null,
          session: null,
          pid: scope.pid,
          scope,
          asking: scope.account,
          guildId,
          redirect,
          chatId: null,
          expiresAt: now + life,
        };
      });

      return FlowSubjects.of({
        resolve: (entry) => ("sid" in entry ? bySession(entry.sid) : byScope(entry)),
      });
    }),
  );
}

/** Refuses a session that has ended, saying how. */
export const refuseOver = (
  { state }: VerificationSession,
  entry: FlowEntry,
): Effect.Effect<never, FlowRefused> =>
  Effect.fail(
    isFinal(state) && state !== "expired"
      ? new FlowRefused({ reason: "over", entry, state })
      : new FlowRefused({ reason: "expired", entry }),
  );

const mayRedirect = (active: ReadonlyArray<ApiKey>, redirect: string) =>
  Effect.findFirst(active, (key) => Effect.isSuccess(checkRedirect(key, redirect)));

const isSid = Schema.is(Sid);
const isPid = Schema.is(Pid);
const isGuildId = Schema.is(GuildId);
