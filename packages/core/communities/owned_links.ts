import { Context, Effect, Layer, Option } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import type { InvalidParameter, LinkNotFound, PlatformUnavailable, StoreUnavailable } from "../errors.ts";
import { ChatId, GameId, isChatId, isGameId } from "../ids.ts";
import { type KeyOwner, originOf } from "../keys/owned_keys.ts";
import { isLinked, type Link } from "../links/link.ts";
import { LinkStore, type NewestPosition } from "../links/link_store.ts";
import { type GameRemoved, type GameUpdated, LinkWriter } from "../links/link_writer.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { type GuildError, platformConcurrency } from "../platforms/guild_guard.ts";
import type { ChatProfile, GameProfile } from "../platforms/profile.ts";
import { Profiles } from "../platforms/profiles.ts";
import { isStorableUpTo } from "../storable_text.ts";
import { OwnedScopes } from "./owned_scopes.ts";

/** Longer user names are not sent to the platforms. */
const longestName = 100;

/** A link with both profiles. A profile is null if the platform does not know the user or does not answer. */
export interface NamedLink {
  readonly link: Link;
  readonly chat: ChatProfile | null;
  readonly game: GameProfile | null;
}

export interface LinkPage {
  readonly links: ReadonlyArray<NamedLink>;
  readonly next: NewestPosition | null;
  /** Chat users that match the search text but have no link here. */
  readonly unlinked: ReadonlyArray<ChatId>;
}

interface LinkName {
  readonly chatId: ChatId;
  readonly gameId: GameId;
}

/**
 * Finds and changes the links of a scope. The caller checks that the owner has the scope.
 *
 * @example
 * ```ts
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * const program = Effect.gen(function* () {
 *   const [owned] = yield* (yield* OwnedScopes).list({ name: "acme" });
 *   if (owned === undefined) return [];
 *   const { links } = yield* (yield* OwnedLinks).page(owned.scope, "100001", null, 10);
 *   return links.map(({ link }) => link.gameId);
 * });
 * await world.run(program); // ["1"]
 * await world.close();
 * ```
 */
export class OwnedLinks extends Context.Service<
  OwnedLinks,
  {
    /**
     * Returns links of a scope, latest verification first.
     *
     * @param text a chat ID, a game ID, or an exact user name of either platform, with or without an
     * `@`; empty for all links
     */
    readonly page: (
      scope: DataScope,
      text: string,
      after: NewestPosition | null,
      limit: number,
    ) => Effect.Effect<LinkPage, StoreUnavailable>;

    /** Returns the chat users that an ID or an exact user name may mean, linked or not; the user with the ID first. */
    readonly chatsMeant: (scope: DataScope, text: string) => Effect.Effect<ReadonlyArray<ChatId>>;

    /** Returns the game users that an ID or an exact user name may mean, linked or not; the user with the ID first. */
    readonly gamesMeant: (text: string) => Effect.Effect<ReadonlyArray<GameId>>;

    readonly find: (scope: DataScope, chatId: ChatId) => Effect.Effect<Link | null, StoreUnavailable>;

    /** Links a chat user by the rules of `LinkWriter.setGame`. */
    readonly set: (
      owner: KeyOwner,
      scope: DataScope,
      link: LinkName,
    ) => Effect.Effect<GameUpdated, GuildError | InvalidParameter | StoreUnavailable>;

    /** Removes the link of a chat user, who need not be a member of the guild. */
    readonly remove: (
      owner: KeyOwner,
      scope: DataScope,
      chatId: ChatId,
    ) => Effect.Effect<GameRemoved, GuildError | LinkNotFound | StoreUnavailable>;
  }
>()("@accountlink/core/OwnedLinks") {
  static readonly layer = Layer.effect(
    OwnedLinks,
    Effect.gen(function* () {
      const store = yield* LinkStore;
      const writer = yield* LinkWriter;
      const profiles = yield* Profiles;
      const chats = yield* ChatPlatform;
      const games = yield* GamePlatform;
      const scopes = yield* OwnedScopes;

      const named = (links: ReadonlyArray<Link>) =>
        Effect.forEach(
          links,
          (link) =>
            Effect.map(
              Effect.all([profiles.chat(link.chatId, null), profiles.game(link.gameId)], { concurrency: 2 }),
              ([chat, game]): NamedLink => ({ link, chat, game }),
            ),
          { concurrency: platformConcurrency },
        );

      const chatsMeant = (scope: DataScope, text: string) =>
        meant(text, isChatId, (name) => chats.findUserByName?.(name, guildOf(scope)));

      const gamesMeant = (text: string) => meant(text, isGameId, (name) => games.findUserByName?.(name));

      const search = Effect.fnUntraced(function* (
        scope: DataScope,
        text: string,
        after: NewestPosition | null,
        limit: number,
      ) {
        const [chatIds, gameIds] = yield* Effect.all([chatsMeant(scope, text), gamesMeant(text)], {
          concurrency: 2,
        });
        const ofGames = yield* store.findByGameIds(scope.pid, gameIds);
        const all = [...new Set([...chatIds, ...[...ofGames.values()].flat()])];
        const records = yield* store.findByChatIds(scope.pid, all);
        const linked = [...records.values()].filter(isLinked);
        return {
          found: linked
            .toSorted(newestFirst)
            .filter((link) => after === null || newestFirst(after, link) < 0)
            .slice(0, limit),
          unlinked: chatIds.filter((chatId) => linked.every((link) => link.chatId !== chatId)),
        };
      });

      const newest = (scope: DataScope, after: NewestPosition | null, limit: number) =>
        Effect.map(store.newestPage(scope.pid, after, limit), (found) => ({ found, unlinked: [] }));

      return OwnedLinks.of({
        chatsMeant,
        gamesMeant,

        find: (scope, chatId) =>
          Effect.map(store.findByChatId(scope.pid, chatId), (record) =>
            Option.getOrNull(Option.filter(record, isLinked)),
          ),

        page: Effect.fn("OwnedLinks.page")(function* (scope, text, after, limit) {
          // One extra link shows whether there is a next page.
          const { found, unlinked } = yield* text === ""
            ? newest(scope, after, limit + 1)
            : search(scope, text, after, limit + 1);
          const links = yield* named(found.slice(0, limit));
          const next = found.length > limit ? (links.at(-1)?.link ?? null) : null;
          return { links, next, unlinked };
        }),

        set: Effect.fn("OwnedLinks.set")(function* (owner, scope, link) {
          const set = yield* writer
            .setGame(targetOf(owner, scope), link)
            .pipe(Effect.catchTag("Conflict", Effect.die));
          if (set.previousGameId === null) yield* scopes.addLinks(scope.pid, 1);
          return set;
        }),

        remove: Effect.fn("OwnedLinks.remove")(function* (owner, scope, chatId) {
          const removed = yield* writer
            .removeGame(targetOf(owner, scope), chatId, { requireMember: false })
            .pipe(Effect.catchTag("Conflict", Effect.die));
          yield* scopes.addLinks(scope.pid, -1);
          return removed;
        }),
      });
    }),
  );
}

const newestFirst = (one: NewestPosition, other: NewestPosition): number =>
  other.lastVerifiedAt - one.lastVerifiedAt || (one.chatId < other.chatId ? -1 : 1);

const targetOf = (owner: KeyOwner, scope: DataScope) => ({
  scope,
  guildId: guildOf(scope),
  origin: originOf(owner),
});

/** Returns the users with a given ID or name. Empty if the platform does not answer. */
const meant = Effect.fnUntraced(function* <Id extends string>(
  text: string,
  isId: (text: string) => text is Id,
  findByName: (name: string) => Effect.Effect<Option.Option<Id>, PlatformUnavailable> | undefined,
) {
  const byId = isId(text) ? [text] : [];
  const name = text.replace(/^@/, "");
  const found = name !== "" && isStorableUpTo(longestName, name) ? findByName(name) : undefined;
  if (found === undefined) return byId;
  const byName = yield* Effect.match(found, { onSuccess: Option.toArray, onFailure: () => [] });
  return [...byId, ...byName];
});
