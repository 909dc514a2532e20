import { Clock, Context, Effect, Layer, Option } from "effect";
import { type Community, CommunityStore, makeHasOpen } from "../communities/mod.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import type { PlatformUnavailable, StoreEffect } from "../errors.ts";
import {
  type ChatId,
  type GameId,
  type GuildId,
  isGuildId,
  isPid,
  isSid,
  type Pid,
  type SessionId,
  type Sid,
} from "../ids.ts";
import { type ConfiguredScope, isAccepted, KeyStore } from "../keys/mod.ts";
import { LinkStore } from "../links/link_store.ts";
import { GuildManagers } from "../platforms/guild_guard.ts";
import { Secrets } from "../secrets/secrets.ts";
import { redirectProblems } from "../sessions/redirect.ts";
import { SessionSettings } from "../sessions/session_settings.ts";
import {
  isFinal,
  type SessionState,
  SessionStore,
  type VerificationSession,
} from "../sessions/session_store.ts";
import { keptAfterExpiry } from "../sessions/session_watch.ts";
import type { Millis } from "../timestamp.ts";
import type { FlowEntry } from "./flow_view.ts";
import { FlowRefused } from "./flow_view.ts";

/** What a flow needs of the session or scope that a browser entered with. */
export interface FlowSubject extends ConfiguredScope {
  readonly sid: Sid | null;
  /** The stored id of the session; null without a session. */
  readonly session: SessionId | null;
  readonly pid: Pid;
  readonly guildId: GuildId | null;
  readonly redirect: string | null;
  /** The only chat user who may complete the session; null if anyone may. */
  readonly chatId: ChatId | null;
  /** The only game user that the session may link; null if it may link any. */
  readonly gameId: GameId | null;
  /** The deadline of the session. Without a session, the deadline of a flow that starts now. */
  readonly expiresAt: Millis;
}

type ScopeEntry = Exclude<FlowEntry, { readonly sid: string }>;

export class FlowSubjects extends Context.Service<FlowSubjects>()("@accountlink/core/FlowSubjects", {
  make: Effect.gen(function* () {
    const keys = yield* KeyStore;
    const sessions = yield* SessionStore;
    const links = yield* LinkStore;
    const communities = yield* CommunityStore;
    const hasOpenNow = yield* makeHasOpen;
    const managers = yield* GuildManagers;
    const secrets = yield* Secrets;
    const { life } = yield* SessionSettings;

    const hasOpen = (of: ReadonlyArray<Community>) => unlessDown(hasOpenNow(of));

    const isStillLinked = ({ pid, chatId, gameId }: VerificationSession) =>
      chatId === null
        ? Effect.succeed(false)
        : Effect.map(
            links.findByChatId(pid, chatId),
            (found) => gameId !== null && Option.getOrNull(found)?.gameId === gameId,
          );

    const bySession = Effect.fnUntraced(function* (sid: string) {
      const entry = { sid };
      const unknown = new FlowRefused({ reason: "unknown", entry: null });
      if (!isSid(sid)) return yield* unknown;
      const session = Option.getOrNull(yield* sessions.find(yield* secrets.sessionId(sid)));
      if (session === null) return yield* unknown;
      const now = yield* Clock.currentTimeMillis;
      if (now >= session.expiresAt + keptAfterExpiry) return yield* unknown;
      if (session.state === "completed") {
        return yield* refuseOver(session, entry, yield* isStillLinked(session));
      }
      if (now >= session.expiresAt || isFinal(session.state)) return yield* refuseOver(session, entry);
      const { id, pid, guildId, redirect, chatId, gameId, expiresAt } = session;
      const [key, scope] = yield* Effect.all([keys.findById(session.keyId), keys.findScopeByPid(pid)], {
        concurrency: "unbounded",
      });
      if (!Option.exists(key, (found) => isAccepted(found, now))) return yield* unknown;
      const configured = Option.getOrThrow(scope);
      return { sid, session: id, pid, ...configured, guildId, redirect, chatId, gameId, expiresAt };
    });

    /** Without an active key, users enter a scope through a community in which they may link. */
    const hasCommunity = Effect.fnUntraced(function* ({ account, pid }: DataScope) {
      if (!(yield* hasOpen(yield* communities.list(pid)))) return false;
      return Option.exists(yield* keys.findAccount(account), ({ status }) => status === "active");
    });

    /** Whether linking is off in a community because the bot was removed from it. */
    const hasLostBot = Effect.fnUntraced(function* (scope: DataScope) {
      if (guildOf(scope) === null) return false;
      return (yield* communities.list(scope.pid)).some(({ paused }) => paused?.why === "bot_removed");
    });

    /**
     * Returns whether somebody of the account lends a guild to the scope: anyone with the `pid` of a global scope can name any guild,
     * and no page may vouch for a stranger's community.
     */
    const mayAsk = (scope: DataScope, guildId: GuildId) => unlessDown(managers.mayName(scope, guildId));

    /** Whether linking is on in a guild that the URL of a global scope names. */
    const hasPlan = (scope: DataScope, guildId: GuildId) =>
      guildOf(scope) === null
        ? Effect.flatMap(communities.find({ pid: scope.pid, guildId }), (found) =>
            hasOpen(Option.toArray(found)),
          )
        : Effect.succeed(false);

    const guildIn = Effect.fnUntraced(function* (scope: DataScope, named: string | null) {
      const own = guildOf(scope);
      const guildId = named ?? own;
      if (guildId === null) return null;
      if (!isGuildId(guildId) || (own !== null && guildId !== own)) {
        return yield* new FlowRefused({ reason: "no_guild", entry: null });
      }
      return (yield* hasPlan(scope, guildId)) || (yield* mayAsk(scope, guildId))
        ? guildId
        : yield* new FlowRefused({ reason: "unknown", entry: null });
    });

    /** Finds the present home of a guild, to which old panels lead whose scope is closed. */
    const movedTo = Effect.fnUntraced(function* (entry: ScopeEntry) {
      const { guildId, pid } = entry;
      if (guildId === null || !isGuildId(guildId) || !isPid(pid)) return null;
      const former = Option.getOrNull(yield* keys.findScopeByPid(pid));
      const hadGuild =
        former !== null &&
        (guildOf(former.scope) === guildId || Option.isSome(yield* communities.find({ pid, guildId })));
      const home = hadGuild ? Option.getOrNull(yield* communities.findHome(guildId)) : null;
      if (home === null || home.scope.pid === pid || !(yield* hasOpen([home]))) return null;
      return { ...entry, pid: home.scope.pid };
    });

    const byScope = Effect.fnUntraced(function* (entry: ScopeEntry) {
      const { pid, redirect } = entry;
      const now = yield* Clock.currentTimeMillis;
      const [found, active] = isPid(pid)
        ? yield* Effect.all([keys.findScopeByPid(pid), keys.listAccepted(pid, now)], {
            concurrency: "unbounded",
          })
        : [Option.none(), []];
      const configured = Option.getOrNull(found);
      if (configured === null || (active.length === 0 && !(yield* hasCommunity(configured.scope)))) {
        const isBotGone = configured !== null && (yield* hasLostBot(configured.scope));
        return yield* new FlowRefused({ reason: isBotGone ? "bot_gone" : "unknown", entry: null });
      }
      const { scope } = configured;
      const guildId = yield* guildIn(scope, entry.guildId);
      if (redirect !== null && active.every((key) => redirectProblems(key, redirect).length > 0)) {
        return yield* new FlowRefused({ reason: "bad_redirect", entry: null });
      }
      return {
        sid: null,
        session: null,
        pid: scope.pid,
        ...configured,
        guildId,
        redirect,
        chatId: null,
        gameId: null,
        expiresAt: now + life,
      };
    });

    return {
      /**
       * Finds the session or scope of an entry. Fails with `FlowRefused` if it is unknown, forbidden, expired or ended.
       */
      resolve: (entry: FlowEntry) =>
        "sid" in entry
          ? bySession(entry.sid)
          : Effect.catchIf(
              byScope(entry),
              (error) => error._tag === "FlowRefused" && error.reason === "unknown",
              (refused) =>
                Effect.flatMap(movedTo(entry), (moved) => (moved === null ? refused : byScope(moved))),
            ),
    };
  }),
}) {
  static readonly layer = Layer.effect(FlowSubjects, FlowSubjects.make);
}

const unlessDown = (asked: StoreEffect<boolean, PlatformUnavailable>) =>
  Effect.catchTag(
    asked,
    "PlatformUnavailable",
    (cause) => new FlowRefused({ reason: "platform_down", entry: null, cause }),
  );

/** Adds the session and the outcome of the flow to the query of a redirect. */
export const withOutcome = (redirect: string, sid: string | null, state: SessionState): string => {
  const url = new URL(redirect);
  if (sid !== null) url.searchParams.set("sid", sid);
  url.searchParams.set("state", state);
  return url.href;
};

/**
 * Fails for an ended session: with `expired` if the session expired, else with `over` and the session's final state.
 */
export const refuseOver = Effect.fnUntraced(function* (
  { state, pid, guildId, redirect, expiresAt }: VerificationSession,
  entry: FlowEntry,
  isStillLinked?: boolean,
) {
  const ended = isFinal(state) ? state : "expired";
  const sid = "sid" in entry ? entry.sid : null;
  const onward = { pid, guildId, redirect: redirect && withOutcome(redirect, sid, ended) };
  if (ended === "expired") {
    return yield* new FlowRefused({ reason: "expired", entry, onward });
  }
  const isPast = (yield* Clock.currentTimeMillis) >= expiresAt;
  const link = isStillLinked === undefined ? {} : { isStillLinked };
  return yield* new FlowRefused({ reason: "over", entry, state, isPast, onward, ...link });
});
