import { Context, Effect, Layer, Option, Result } from "effect";
import type { DataScope } from "../data_scope.ts";
import {
  Forbidden,
  MissingParameter,
  type PlatformUnavailable,
  type StoreEffect,
  type StoreUnavailable,
} from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import { ChatPlatform } from "./chat_platform.ts";
import { findEach, platformConcurrency } from "./find_each.ts";

/** How long a request waits for the platform's list of members before it asks about each user. */
const listTimeout = "1 second";

/** Why a request may not use its guild. */
export type GuildError = MissingParameter | Forbidden | PlatformUnavailable | StoreUnavailable;

export type RequestedGuild = GuildId | null;

/**
 * Checks the guild of a request, in this order: it is the guild of the scope, the bot is in it, the account manages it,
 * and chat users are its members. @internal
 */
export class GuildGuard extends Context.Service<GuildGuard>()("@accountlink/core/GuildGuard", {
  make: Effect.gen(function* () {
    const platform = yield* ChatPlatform;
    const managers = yield* GuildManagers;

    const hasBot = (guildId: GuildId) => Effect.map(platform.findGuild(guildId), Option.isSome);

    const requireBot = Effect.fnUntraced(function* (guildId: GuildId) {
      if (!(yield* hasBot(guildId))) return yield* new Forbidden({ reason: "bot_not_in_guild" });
    });

    const isMember = (guildId: RequestedGuild, chatId: ChatId) =>
      guildId === null
        ? Effect.succeed(true)
        : Effect.map(platform.findMember(guildId, chatId), Option.isSome);

    const enterAsUser = (
      scope: DataScope,
      guildId: RequestedGuild,
    ): Effect.Effect<void, Exclude<GuildError, StoreUnavailable>> => {
      if (guildId !== null) return Effect.andThen(requireOwnGuild(scope, guildId), requireBot(guildId));
      return scope.kind === "guild" ? new MissingParameter({ parameters: ["guildId"] }) : Effect.void;
    };

    const requireAccount = Effect.fnUntraced(function* (scope: DataScope, guildId: RequestedGuild) {
      if (guildId !== null && !(yield* managers.mayName(scope, guildId))) {
        return yield* new Forbidden({ reason: "not_guild_manager" });
      }
    });

    return {
      /** `enter` for a user who verifies an own account: the account of the scope need not manage the guild. */
      enterAsUser,

      /** Returns whether the chat user is a member of the guild; true if `guildId` is null. */
      isMember,

      /** Returns for each chat user whether they are a member of the guild, or why nobody knows. */
      memberships: Effect.fnUntraced(function* (guildId: GuildId, chatIds: Iterable<ChatId>) {
        const { cached, findMember } = platform;
        const found = yield* findEach(chatIds, (id) => findMember(guildId, id), cached?.members(guildId));
        return new Map(Array.from(found, ([id, member]) => [id, Result.map(member, Option.isSome)] as const));
      }),

      /**
       * Returns, with one request to the platform, whether chat users are members of the guild. The result omits users
       * that the platform's answer does not cover. For up to 8 users the result is empty, because `isMember` is faster
       * for them. The result is also empty if the platform fails or takes longer than a second.
       */
      knownMembers: (
        guildId: GuildId,
        chatIds: ReadonlyArray<ChatId>,
      ): Effect.Effect<ReadonlyMap<ChatId, boolean>> =>
        platform.findMembers === undefined || chatIds.length <= platformConcurrency
          ? Effect.succeed(new Map())
          : platform.findMembers(guildId, chatIds).pipe(
              Effect.timeout(listTimeout),
              Effect.orElseSucceed(() => new Map()),
            ),

      /**
       * Checks the guild that a request names; the bot must be in this guild, and the account of the scope must be
       * allowed to name it (see `GuildManagers`). A request in a guild scope must name the guild of the scope. A request
       * in a global scope may name no guild.
       */
      enter: (scope: DataScope, guildId: RequestedGuild) =>
        guildId === null || scope.namesAnyGuild === true
          ? enterAsUser(scope, guildId)
          : Effect.andThen(enterAsUser(scope, guildId), requireAccount(scope, guildId)),

      /** Fails with `Forbidden` unless the account of the scope may name the guild. */
      requireAccount,

      /** Fails with `Forbidden` if the chat user is not a member of the guild. */
      requireMember: (
        guildId: RequestedGuild,
        chatId: ChatId,
        reason: "user_not_in_guild" | "new_user_not_in_guild" = "user_not_in_guild",
      ): Effect.Effect<void, Forbidden | PlatformUnavailable> =>
        Effect.flatMapEager(isMember(guildId, chatId), (member) =>
          member ? Effect.void : new Forbidden({ reason }),
        ),

      /** Fails with `Forbidden` unless the bot is in the guild and one of the chat users may manage it now. */
      requireManager: Effect.fnUntraced(function* (guildId: GuildId, chatIds: ReadonlyArray<ChatId>) {
        // A manager who has just added the bot tries at once, so ask anew before refusing.
        const isThere = (yield* hasBot(guildId)) || (yield* platform.joinedGuilds([guildId])).has(guildId);
        if (!isThere) return yield* new Forbidden({ reason: "bot_not_in_guild" });
        for (const chatId of chatIds) if (yield* platform.isManager(guildId, chatId)) return;
        return yield* new Forbidden({ reason: "not_guild_manager" });
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(GuildGuard, GuildGuard.make);
}

/** Fails if the scope is the guild scope of another guild. @internal */
export const requireOwnGuild = (scope: DataScope, guildId: GuildId): Effect.Effect<void, Forbidden> =>
  scope.kind === "guild" && scope.guildId !== guildId
    ? new Forbidden({ reason: "wrong_guild" })
    : Effect.void;

/** Decides which guilds may be named for a list. It is a port, because `accounts` imports `platforms`. @internal */
export class GuildManagers extends Context.Service<
  GuildManagers,
  {
    /**
     * Returns whether a member of the account who lends guilds to the list manages the guild, which is checked at most
     * every 10 minutes. Lists of the operator's own accounts may name every guild.
     */
    readonly mayName: (
      list: Pick<DataScope, "account" | "pid">,
      guildId: GuildId,
    ) => StoreEffect<boolean, PlatformUnavailable>;
  }
>()("@accountlink/core/GuildManagers") {}
