/**
 * Writes of links, with the guild rules.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import { Conflict, InvalidParameter, LinkNotFound, type StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId } from "../ids.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { type GuildError, GuildGuard, type RequestedGuild } from "../platforms/guild_guard.ts";
import { SessionWatch } from "../sessions/session_watch.ts";
import { LinkStore } from "./link_store.ts";

/** The scope, guild and origin of a write. */
export interface WriteTarget {
  readonly scope: DataScope;
  readonly guildId: RequestedGuild;
  readonly origin: WriteOrigin;
}

export interface GameUpdated {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** The value that this write replaced. */
  readonly previousGameId: GameId | null;
  /** Whether it differs from `gameId`. */
  readonly updated: boolean;
}

export interface ChatUpdated {
  readonly previousChatId: ChatId;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly updated: boolean;
}

export interface GameRemoved {
  readonly chatId: ChatId;
  readonly removedGameId: GameId;
  readonly deleted: true;
}

/** Changes links in one scope. A write that succeeded is stored durably. */
export class LinkWriter extends Context.Service<
  LinkWriter,
  {
    /**
     * Links a chat user to a game user. Fails with `Forbidden` if the chat user is not in the
     * guild, and with `InvalidParameter` if the game user does not exist.
     */
    readonly setGame: (
      target: WriteTarget,
      link: { readonly chatId: ChatId; readonly gameId: GameId },
    ) => Effect.Effect<GameUpdated, GuildError | InvalidParameter | StoreUnavailable>;

    /**
     * Moves the link of one chat user to another. Fails with `Forbidden` if the new user is not in
     * the guild, and with `Conflict` if they are linked.
     */
    readonly moveChat: (
      target: WriteTarget,
      move: { readonly oldChatId: ChatId; readonly newChatId: ChatId },
    ) => Effect.Effect<ChatUpdated, GuildError | LinkNotFound | Conflict | StoreUnavailable>;

    /**
     * Removes the game link of a chat user and fails their open verification sessions.
     *
     * @param options.requireMember whether the chat user must be a member of the guild
     */
    readonly removeGame: (
      target: WriteTarget,
      chatId: ChatId,
      options: { readonly requireMember: boolean },
    ) => Effect.Effect<GameRemoved, GuildError | LinkNotFound | StoreUnavailable>;

    /**
     * Deletes all records of the scope and fails its open sessions. A guild scope may leave out its
     * guild.
     *
     * @returns the number of deleted records
     */
    readonly deleteScope: (target: WriteTarget) => Effect.Effect<number, GuildError | StoreUnavailable>;
  }
>()("@accountlink/core/LinkWriter") {
  static readonly layer = Layer.effect(
    LinkWriter,
    Effect.gen(function* () {
      const links = yield* LinkStore;
      const guard = yield* GuildGuard;
      const games = yield* GamePlatform;
      const watch = yield* SessionWatch;

      const setGame: LinkWriter["Service"]["setGame"] = Effect.fn("LinkWriter.setGame")(function* (
        target,
        { chatId, gameId },
      ) {
        yield* guard.enter(target.scope, target.guildId);
        yield* guard.requireMember(target.guildId, chatId);
        if (!(yield* games.hasUser(gameId))) {
          return yield* InvalidParameter.one("gameId", "expected a user of the game platform, found none");
        }
        const { previousGameId } = yield* links.setGame({ ...(yield* contextOf(target)), chatId, gameId });
        return { chatId, gameId, previousGameId, updated: previousGameId !== gameId };
      });

      const moveChat: LinkWriter["Service"]["moveChat"] = Effect.fn("LinkWriter.moveChat")(function* (
        target,
        { oldChatId, newChatId },
      ) {
        yield* guard.enter(target.scope, target.guildId);
        yield* guard.requireMember(target.guildId, newChatId, "new_user_not_in_guild");
        const moved = yield* links.moveChat({ ...(yield* contextOf(target)), oldChatId, newChatId });
        switch (moved._tag) {
          case "NoLink":
            return yield* new LinkNotFound();
          case "Occupied":
            return yield* new Conflict({ reason: "chat_already_linked" });
          default:
            return {
              previousChatId: oldChatId,
              chatId: newChatId,
              gameId: moved.gameId,
              updated: moved._tag === "Moved",
            };
        }
      });

      const removeGame: LinkWriter["Service"]["removeGame"] = Effect.fn("LinkWriter.removeGame")(function* (
        target,
        chatId,
        { requireMember },
      ) {
        yield* guard.enter(target.scope, target.guildId);
        if (requireMember) yield* guard.requireMember(target.guildId, chatId);
        const removed = yield* links.removeGame({ ...(yield* contextOf(target)), chatId });
        if (Option.isNone(removed)) return yield* new LinkNotFound();
        const { gameId, ended } = removed.value;
        yield* watch.announce(ended);
        return { chatId, removedGameId: gameId, deleted: true as const };
      });

      const deleteScope: LinkWriter["Service"]["deleteScope"] = Effect.fn("LinkWriter.deleteScope")(
        function* (target) {
          yield* guard.enter(target.scope, target.guildId ?? guildOf(target.scope));
          const { records, ended } = yield* links.deleteScope(yield* contextOf(target));
          yield* watch.announce(ended);
          return records;
        },
      );

      return LinkWriter.of({ setGame, moveChat, removeGame, deleteScope });
    }),
  );
}

const contextOf = ({ scope, origin }: WriteTarget) =>
  Effect.map(Clock.currentTimeMillis, (at) => ({ pid: scope.pid, at, ...origin }));
