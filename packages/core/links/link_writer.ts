import { Clock, Context, Effect, Layer, Option } from "effect";
import { AuditLog, type WriteOrigin } from "../audit/audit.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import { Conflict, InvalidParameter, LinkNotFound } from "../errors.ts";
import type { Once } from "../idempotency/idempotency_store.ts";
import { type ChatId, type GameId, isGameId } from "../ids.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { GuildGuard, type RequestedGuild } from "../platforms/guild_guard.ts";
import { Secrets } from "../secrets/secrets.ts";
import { SessionWatch } from "../sessions/session_watch.ts";
import { traced } from "../telemetry/tracing.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import { LinkCap } from "./link_cap.ts";
import { LinkEvents } from "./link_events.ts";
import { gameUpdated, keptMove, keptSet, removedGame } from "./link_outcomes.ts";
import { LinkStore, type RemoveGame, type SetGame } from "./link_store.ts";

/** The scope and the guild of a write, and who makes it. */
export interface WriteTarget {
  readonly scope: DataScope;
  readonly guildId: RequestedGuild;
  readonly origin: WriteOrigin;
  /** The idempotency key of the request, kept together with the write and its outcome. */
  readonly once?: Once | undefined;
}

/**
 * Changes links of one scope, after `GuildGuard` has checked the guild and its members. A successful write is durable.
 * A write whose target has an idempotency key that is taken changes nothing, and fails with `Conflict`
 * `idempotency_key_in_use`.
 */
export class LinkWriter extends Context.Service<LinkWriter>()("@accountlink/core/LinkWriter", {
  make: Effect.gen(function* () {
    const links = yield* LinkStore;
    const guard = yield* GuildGuard;
    const games = yield* GamePlatform;
    const watch = yield* SessionWatch;
    const events = yield* LinkEvents;
    const cap = yield* LinkCap;
    const secrets = yield* Secrets;
    const log = yield* AuditLog;

    const announce = (
      scope: DataScope,
      chatId: ChatId,
      gameId: GameId | null,
      previousGameId: GameId | null,
    ) => events.announce("linkChanged", { scope: storedScope(scope), chatId, gameId, previousGameId });

    /** Returns what the team, or the key that asks, removed last from the record of a chat user; null if nothing. */
    const removalOf = Effect.fnUntraced(function* (
      { account, pid }: DataScope,
      chatId: ChatId,
      { actor }: WriteOrigin,
      now: Millis,
    ) {
      const filter = { action: "link.removed", keyId: null, chatId, pid } as const;
      const [entry] = (yield* log.list(account, null, 1, filter)).entries;
      const gameId = entry?.details["removedGameId"];
      if (entry === undefined || entry.at <= now - dayMs || !isGameId(gameId)) return null;
      const isByTeam =
        entry.actor.type === "account" || (entry.actor.type === "key" && entry.actor.id === actor.id);
      return isByTeam ? { gameId, removedAt: entry.at } : null;
    });

    const deleteData = Effect.fnUntraced(function* (target: WriteTarget, keepsBlocks: boolean) {
      const context = yield* contextOf(target);
      const { records, ended } = yield* links.deleteScope({ ...context, keepsBlocks });
      yield* cap.freed(target.scope);
      yield* watch.announce(ended);
      if (records > 0) yield* events.announce("linksDeleted", { scope: storedScope(target.scope) });
      return records;
    });

    return {
      /**
       * Links a chat user to a game user. Fails with `Forbidden` if the chat user is not in the guild, with
       * `InvalidParameter` if the game user does not exist, and with `Conflict`: `blocked` if a user is blocked, and
       * `link_limit` if the account can have no more links.
       */
      setGame: Effect.fnUntraced(function* (
        target: WriteTarget,
        { chatId, gameId, reason = null }: Pick<SetGame, "chatId" | "gameId" | "reason">,
      ) {
        // Step 11 of a request (see docs/architecture.md): check the guild, and that the chat user is a member of it.
        yield* guard.enter(target.scope, target.guildId);
        yield* guard.requireMember(target.guildId, chatId);
        // Step 12 of a request (see docs/architecture.md): check that the game user exists, then write the link.
        if (!(yield* games.hasUser(gameId))) {
          return yield* InvalidParameter.one("gameId", { is: "game_user" });
        }
        const chatHash = secrets.blockHash(target.scope.pid, { chatId, gameId: null });
        const context = yield* contextOf(target);
        const write = links.setGame({ ...context, chatId, gameId, chatHash, reason });
        const set = yield* cap.admit(target.scope, chatId, write);
        yield* announce(target.scope, chatId, gameId, set.previousGameId);
        return gameUpdated(keptSet(set));
      }, traced("LinkWriter.setGame")),

      /**
       * Moves the link of one chat user to another. Fails with `Forbidden` if the new user is not in the guild, and with
       * `Conflict` if the new user is linked, or a user is blocked.
       */
      moveChat: Effect.fnUntraced(function* (
        target: WriteTarget,
        { oldChatId, newChatId }: { readonly oldChatId: ChatId; readonly newChatId: ChatId },
      ) {
        yield* guard.enter(target.scope, target.guildId);
        yield* guard.requireMember(target.guildId, newChatId, "new_user_not_in_guild");
        const context = yield* contextOf(target);
        const chatHash = secrets.blockHash(target.scope.pid, { chatId: newChatId, gameId: null });
        const write = { ...context, oldChatId, newChatId, chatHash };
        const moved = yield* links.moveChat(write);
        if (moved._tag === "Occupied") return yield* new Conflict({ reason: "chat_already_linked" });
        const updated = keptMove(moved, write);
        if (updated === null) return yield* new LinkNotFound();
        if (updated.updated) {
          yield* announce(target.scope, oldChatId, null, updated.gameId);
          yield* announce(target.scope, newChatId, updated.gameId, null);
        }
        return updated;
      }, traced("LinkWriter.moveChat")),

      /**
       * Removes the link of a chat user and fails their open verification sessions.
       *
       * @param options.requireMember whether the chat user must be a member of the guild
       * @param options.reason the reason for the audit entry; null for none
       */
      removeGame: Effect.fnUntraced(function* (
        target: WriteTarget,
        chatId: ChatId,
        { requireMember, reason = null }: Pick<RemoveGame, "reason"> & { readonly requireMember: boolean },
      ) {
        yield* guard.enter(target.scope, target.guildId);
        if (requireMember) yield* guard.requireMember(target.guildId, chatId);
        const context = yield* contextOf(target);
        const removed = yield* links.removeGame({ ...context, chatId, reason });
        if (Option.isNone(removed)) return yield* new LinkNotFound();
        const { gameId, ended } = removed.value;
        yield* cap.freed(target.scope);
        yield* watch.announce(ended);
        yield* announce(target.scope, chatId, null, gameId);
        return removedGame(chatId, gameId);
      }, traced("LinkWriter.removeGame")),

      /**
       * Puts back the link that the team of the account removed last, within a day, as it was. Fails with `LinkNotFound`
       * if somebody else removed it, or if it has changed since, and with `Conflict` as `setGame`.
       */
      restoreGame: Effect.fnUntraced(function* (target: WriteTarget, chatId: ChatId) {
        const { scope, origin } = target;
        yield* guard.enter(scope, target.guildId);
        const context = yield* contextOf(target);
        const removed = yield* removalOf(scope, chatId, origin, context.at);
        if (removed === null) return yield* new LinkNotFound();
        const chatHash = secrets.blockHash(scope.pid, { chatId, gameId: null });
        const write = links.restoreGame({ ...context, ...removed, chatId, chatHash });
        const link = Option.getOrNull(yield* cap.admit(scope, chatId, write));
        if (link === null) return yield* new LinkNotFound();
        yield* announce(scope, chatId, link.gameId, null);
        return link;
      }, traced("LinkWriter.restoreGame")),

      /**
       * Deletes all records of the scope but its blocks, and sets its open verification sessions to `failed`. For a guild
       * scope, `guildId` may be null. An interrupted deletion can leave some records. The audit log has the number of deleted
       * records.
       *
       * @returns the number of deleted records
       */
      deleteScope: Effect.fnUntraced(function* (target: WriteTarget) {
        yield* guard.enter(target.scope, target.guildId ?? guildOf(target.scope));
        return yield* deleteData(target, true);
      }, traced("LinkWriter.deleteScope")),

      /** Deletes as `deleteScope` does for the owner of the scope, also when the bot has left the guild. */
      deleteOwnScope: (scope: DataScope, origin: WriteOrigin, keepsBlocks: boolean) =>
        deleteData({ scope, guildId: null, origin }, keepsBlocks).pipe(traced("LinkWriter.deleteOwnScope")),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkWriter, LinkWriter.make).pipe(
    Layer.provide([LinkEvents.layer, LinkCap.layer]),
  );
}

const storedScope = ({ namesAnyGuild: _, ...scope }: DataScope): DataScope => scope;

const contextOf = ({ scope, origin, once }: WriteTarget) =>
  Effect.map(Clock.currentTimeMillis, (at) => ({ pid: scope.pid, at, ...origin, once }));
