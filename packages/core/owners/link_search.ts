import { Effect, Option, Result } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import type { PlatformEffect, PlatformUnavailable, StoreEffect } from "../errors.ts";
import { type ChatId, isChatId, isGameId } from "../ids.ts";
import { isLinked, LinkStore } from "../links/mod.ts";
import { ChatPlatform, GamePlatform, GuildGuard, usernamesMeant } from "../platforms/mod.ts";

/** How many members a search by the beginning of their names returns at most. */
const mostMembers = 100;

/** Finds users, and their links, by what somebody typed. */
export const makeLinkSearch = Effect.gen(function* () {
  const store = yield* LinkStore;
  const chats = yield* ChatPlatform;
  const games = yield* GamePlatform;
  const guard = yield* GuildGuard;

  /** Asks about the members of the scope's guild, which somebody of its account must manage. */
  const asManager = <A>(scope: DataScope, question: PlatformEffect<A>) =>
    Effect.andThen(guard.requireAccount(scope, guildOf(scope)), question);

  /**
   * Returns the chat users whose ID or exact user name is `text`, linked or not, the user with this ID first. In a
   * guild, only members are found by name, and nobody if no member of the account manages the guild.
   */
  const chatsMeant = (scope: DataScope, text: string) =>
    meant(withoutAt(text), isChatId, (name) => {
      const found = idsOf(chats.findUserByName?.(name, guildOf(scope)));
      return found && Effect.catchTag(asManager(scope, found), "Forbidden", () => Effect.succeed([]));
    });

  /** Returns the game users whose ID or exact user name is `text`, the user with this ID first. */
  const gamesMeant = (text: string) => meant(text, isGameId, (name) => idsOf(games.findUserByName?.(name)));

  const membersNamed = (scope: DataScope, text: string) => {
    const guildId = guildOf(scope);
    const { searchMembers } = chats;
    return guildId === null || searchMembers === undefined
      ? chatsMeant(scope, text)
      : meant(withoutAt(text), isChatId, (name) =>
          asManager(scope, searchMembers(guildId, name, mostMembers)),
        );
  };

  /** Returns a search for a text in any number of scopes, for which the game platform is asked once. */
  const searchFor = Effect.fnUntraced(function* (text: string) {
    const askedGames = yield* Effect.cached(Effect.result(gamesMeant(text)));
    /** Fails if it finds nobody because a platform did not answer, or because nobody of the account manages the guild. */
    return Effect.fnUntraced(function* (scope: DataScope) {
      const [chatsNamed, gamesNamed] = yield* Effect.all(
        [Effect.result(membersNamed(scope, text)), askedGames],
        {
          concurrency: "unbounded",
        },
      );
      const chatIds = Result.getOrElse(chatsNamed, () => []);
      const gameIds = Result.getOrElse(gamesNamed, () => []);
      const ofGames = yield* store.findByGameIds(scope.pid, gameIds);
      const all = [...new Set([...chatIds, ...[...ofGames.values()].flat()])];
      const records = yield* store.findByChatIds(scope.pid, all);
      const linked = [...records.values()].filter(isLinked);
      const isUnlinked = (chatId: ChatId) => linked.every((link) => link.chatId !== chatId);
      if (all.length === 0) yield* Effect.all([Effect.fromResult(chatsNamed), Effect.fromResult(gamesNamed)]);
      return { linked, unlinked: chatIds.filter(isUnlinked) };
    });
  });

  const search = (scope: DataScope, text: string) => Effect.flatMap(searchFor(text), (find) => find(scope));

  return { chatsMeant, gamesMeant, searchFor, search };
});

const idsOf = <Id>(found: PlatformEffect<Option.Option<Id>> | undefined) =>
  found && Effect.map(found, Option.toArray);

/**
 * Returns the users with a given ID or name, each once. If the platform does not answer, returns the user with this ID,
 * or fails if the text is no ID.
 */
const meant = Effect.fnUntraced(function* <Id extends string, E = never>(
  text: string,
  isId: (text: string) => text is Id,
  findByName: (name: string) => StoreEffect<ReadonlyArray<Id>, PlatformUnavailable | E> | undefined,
) {
  const byId = isId(text) ? [text] : [];
  for (const name of usernamesMeant(text)) {
    const found = findByName(name) ?? Effect.succeed([]);
    const byName = yield* byId.length > 0 ? Effect.orElseSucceed(found, () => []) : found;
    if (byName.length > 0) return [...new Set([...byId, ...byName])];
  }
  return byId;
});

/** A name at the chat platform never begins with the `@` by which users type it. */
const withoutAt = (text: string): string => text.trim().replace(/^@/u, "");
