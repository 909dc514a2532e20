import { Context, Effect, Layer, Option } from "effect";
import type { DataScope } from "../data_scope.ts";
import { LinkNotFound } from "../errors.ts";
import type { ChatId, GameId, GuildId, Pid } from "../ids.ts";
import { GuildGuard, type RequestedGuild } from "../platforms/guild_guard.ts";
import type { ChatProfile, GameProfile } from "../platforms/profile.ts";
import { Profiles } from "../platforms/profiles.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Link, LinkRecord } from "./link.ts";
import { LinkStore } from "./link_store.ts";
import { newestMembers } from "./newest_members.ts";

export interface LookupOptions {
  /** Restricts the lookup to a guild; required for a guild scope. Defaults to none. */
  readonly guildId?: RequestedGuild;
  /** Whether the result includes the profiles of its users. Defaults to false. */
  readonly resolved?: boolean;
}

/** The profiles of a link's game user and chat user. A profile is null if it was not requested or is not available. */
export interface ResolvedPair {
  readonly game: GameProfile | null;
  readonly chat: ChatProfile | null;
}

export interface ChatLookup {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly resolved: ResolvedPair;
}

export interface GameLookup {
  readonly gameId: GameId;
  /**
   * The chat users, newest link first. A lookup without a guild returns at most 1,000. A lookup with a guild returns
   * the newest 100 members of the guild among these 1,000.
   */
  readonly chatIds: ReadonlyArray<ChatId>;
  readonly count: number;
  readonly resolved: {
    readonly game: GameProfile | null;
    /** The profiles of the first 25 of `chatIds`, in the same order. */
    readonly chat: ReadonlyArray<ChatProfile | null> | null;
  };
}

/** The link of a chat user. Without a link, the fields after `chatId` are null, and `resolved` has no profiles. */
export interface VerificationStatus {
  readonly linked: boolean;
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  readonly linkVersion: number | null;
  readonly linkHash: string | null;
  readonly lastVerifiedAt: number | null;
  readonly resolved: ResolvedPair;
}

const unresolved: ResolvedPair = { game: null, chat: null };

/** Looks up links of one scope in both directions. */
export class LinkLookup extends Context.Service<LinkLookup>()("@accountlink/core/LinkLookup", {
  make: Effect.gen(function* () {
    const links = yield* LinkStore;
    const guard = yield* GuildGuard;
    const profiles = yield* Profiles;
    const secrets = yield* Secrets;

    const resolvePair = (
      link: Link,
      { guildId = null, resolved = false }: LookupOptions,
    ): Effect.Effect<ResolvedPair> =>
      resolved
        ? Effect.all(
            { game: profiles.game(link.gameId), chat: profiles.chat(link.chatId, guildId) },
            { concurrency: "unbounded" },
          )
        : Effect.succeed(unresolved);

    const admitChat = (scope: DataScope, chatId: ChatId, { guildId = null }: LookupOptions) =>
      Effect.flatMap(guard.enter(scope, guildId), () => guard.requireMember(guildId, chatId));

    const findMembers = newestMembers(guard, links);
    const membersOf = Effect.fnUntraced(function* (pid: Pid, guildId: GuildId, gameId: GameId) {
      const found = (yield* findMembers(pid, guildId, [gameId])).get(gameId);
      return found === undefined ? [] : yield* Effect.fromResult(found);
    });

    return {
      /** Returns the game user of a chat user. If the lookup has a guild, the chat user must be a member of the guild. */
      byChat: Effect.fnUntraced(function* (scope: DataScope, chatId: ChatId, options: LookupOptions = {}) {
        if (hasGuild(scope, options)) yield* admitChat(scope, chatId, options);
        const link = linkOf(yield* links.findByChatId(scope.pid, chatId));
        if (link === null) return yield* new LinkNotFound();
        return { chatId, gameId: link.gameId, resolved: yield* resolvePair(link, options) };
      }),

      /**
       * Returns the chat users of a game user, newest link first. If the lookup has a guild, returns only members of the
       * guild.
       */
      byGame: Effect.fnUntraced(function* (scope: DataScope, gameId: GameId, options: LookupOptions = {}) {
        const { guildId = null, resolved = false } = options;
        if (hasGuild(scope, options)) yield* guard.enter(scope, guildId);
        const chatIds =
          guildId === null
            ? ((yield* links.findByGameIds(scope.pid, [gameId])).get(gameId) ?? [])
            : yield* membersOf(scope.pid, guildId, gameId);
        if (chatIds.length === 0) return yield* new LinkNotFound();
        return {
          gameId,
          chatIds,
          count: chatIds.length,
          resolved: resolved
            ? yield* Effect.all(
                { game: profiles.game(gameId), chat: profiles.chats(chatIds, guildId) },
                { concurrency: "unbounded" },
              )
            : unresolvedGame,
        };
      }),

      /** Returns the verification status of a chat user, who need not have a link. */
      verification: Effect.fnUntraced(function* (
        scope: DataScope,
        chatId: ChatId,
        options: LookupOptions = {},
      ) {
        yield* admitChat(scope, chatId, options);
        const link = linkOf(yield* links.findByChatId(scope.pid, chatId));
        if (link === null) return notVerified(chatId);
        return {
          linked: true,
          chatId,
          gameId: link.gameId,
          linkVersion: link.linkVersion,
          linkHash: yield* secrets.linkHash(scope.pid, link),
          lastVerifiedAt: link.lastVerifiedAt,
          resolved: yield* resolvePair(link, options),
        };
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkLookup, LinkLookup.make);
}

/** Returns whether a guild restricts the lookup. Most lookups have no guild, and do not need `GuildGuard`. */
const hasGuild = (scope: DataScope, { guildId = null }: LookupOptions): boolean =>
  guildId !== null || scope.kind === "guild";

const unresolvedGame: GameLookup["resolved"] = { game: null, chat: null };

const linkOf = (record: Option.Option<LinkRecord>): Link | null =>
  Option.isSome(record) && record.value.gameId !== null ? record.value : null;

const notVerified = (chatId: ChatId): VerificationStatus => ({
  linked: false,
  chatId,
  gameId: null,
  linkVersion: null,
  linkHash: null,
  lastVerifiedAt: null,
  resolved: unresolved,
});
