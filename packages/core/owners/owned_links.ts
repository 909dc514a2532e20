import { Context, Effect, Layer, Option, Stream } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import {
  type Forbidden,
  MissingParameter,
  type PlatformUnavailable,
  type StoreUnavailable,
} from "../errors.ts";
import { ChatId } from "../ids.ts";
import { type Manager, originOf } from "../keys/owned_keys.ts";
import { forEachLimited } from "../limited_loops.ts";
import { isLinked, type Link } from "../links/link.ts";
import {
  LinkStore,
  type NewestPosition,
  newestOf,
  type PageDirection,
  type SetGame,
} from "../links/link_store.ts";
import { LinkWriter } from "../links/link_writer.ts";
import { type ChatProfile, type GameProfile, GuildGuard, Profiles } from "../platforms/mod.ts";
import type { Millis } from "../timestamp.ts";
import { makeContestOf } from "./contested_links.ts";
import { makeLinkSearch } from "./link_search.ts";
import { makeNameOrder } from "./name_order.ts";
import { OwnedScopes } from "./owned_scopes.ts";

/**
 * A link with both profiles, of the game profile only the names. A profile is null if the platform does not know the user
 * or does not answer.
 */
export interface NamedLink {
  readonly link: Link;
  readonly chat: ChatProfile | null;
  readonly game: GameProfile | null;
}

export interface LinkPage {
  readonly links: ReadonlyArray<NamedLink>;
  /** The position after which the next page begins; null on the last page. */
  readonly next: NewestPosition | null;
  /** The position before which the previous page ends; null on the first page. */
  readonly previous: NewestPosition | null;
  /** Chat users that match the search text but have no link in the scope. */
  readonly unlinked: ReadonlyArray<ChatId>;
}

/** A page of links that are sorted by the names of their users. */
export interface NamedPage extends Pick<LinkPage, "links" | "unlinked"> {
  /** The number of this page, which is at most `pages`; the first is 1. */
  readonly page: number;
  readonly pages: number;
  /** How many of all links are last, because the platform does not list their users as members. */
  readonly unnamed: number;
  readonly sortedAt: Millis;
}

/** Half of the requests that Discord allows a bot, so that lookups have the other half. */
const [namedAtOnce, pauseOfNames] = [25, "1 second"] as const;

/** Finds and changes the links of a scope. The caller checks that the owner has the scope. */
export class OwnedLinks extends Context.Service<OwnedLinks>()("@accountlink/core/OwnedLinks", {
  make: Effect.gen(function* () {
    const store = yield* LinkStore;
    const writer = yield* LinkWriter;
    const profiles = yield* Profiles;
    const { chatsMeant, gamesMeant, searchFor, search } = yield* makeLinkSearch;
    const scopes = yield* OwnedScopes;
    const guard = yield* GuildGuard;
    const orderOf = yield* makeNameOrder;
    const contestOf = yield* makeContestOf;

    const named = Effect.fnUntraced(function* (links: ReadonlyArray<Link>) {
      const chatIds = links.map(({ chatId }) => chatId);
      const gameIds = links.map(({ gameId }) => gameId);
      const [members, names] = yield* Effect.all(
        [profiles.chatProfiles(chatIds, null), profiles.gameNames(gameIds)],
        { concurrency: "unbounded" },
      );
      return links.map((link): NamedLink => {
        const { chatId, gameId } = link;
        return { link, chat: members.get(chatId) ?? null, game: names.get(gameId) ?? null };
      });
    });

    const page = Effect.fn("OwnedLinks.page")(function* (
      scope: DataScope,
      text: string,
      place: NewestPosition | null,
      limit: number,
      direction: PageDirection = "older",
    ): Effect.fn.Return<LinkPage, StoreUnavailable | PlatformUnavailable | Forbidden> {
      // Read one link more than `limit`, to know whether there is another page.
      const { found, unlinked } = yield* text === ""
        ? Effect.map(store.newestPage(scope.pid, place, limit + 1, direction), (links) => ({
            found: links,
            unlinked: [],
          }))
        : Effect.map(search(scope, text), (result) => ({
            found: newestOf(result.linked, place, limit + 1, direction),
            unlinked: result.unlinked,
          }));
      const hasMore = found.length > limit;
      if (direction === "newer") {
        // The newer links may be too few for a page. Return the first page, which contains all of them.
        if (!hasMore) return yield* page(scope, text, null, limit);
        const links = yield* named(found.slice(-limit));
        return { links, next: links.at(-1)?.link ?? null, previous: links[0]?.link ?? null, unlinked };
      }
      const links = yield* named(found.slice(0, limit));
      const next = hasMore ? (links.at(-1)?.link ?? null) : null;
      return { links, next, previous: place === null ? null : (links[0]?.link ?? place), unlinked };
    });

    const firstIn = Effect.fn("OwnedLinks.firstIn")(function* (
      listed: ReadonlyArray<DataScope>,
      text: string,
      limit: number,
    ) {
      const find = yield* searchFor(text);
      const nobody = { links: [], next: null, unlinked: [], failed: null };
      const firstOf = Effect.fnUntraced(
        function* (scope: DataScope) {
          const { linked, unlinked } = yield* find(scope);
          const links = yield* named(newestOf(linked, null, limit, "older"));
          const next = linked.length > limit ? (links.at(-1)?.link ?? null) : null;
          return { links, next, unlinked, failed: null };
        },
        Effect.catchTags({
          Forbidden: () => Effect.succeed(nobody),
          PlatformUnavailable: (failed) => Effect.succeed({ ...nobody, failed }),
        }),
      );
      const firsts = yield* forEachLimited(listed, 4, firstOf);
      const failed = firsts.find((first) => first.failed !== null)?.failed ?? null;
      if (failed !== null && firsts.every(({ links, unlinked }) => links.length + unlinked.length === 0))
        return yield* failed;
      return firsts;
    });

    const findMany = (scope: DataScope, chatIds: ReadonlyArray<ChatId>) =>
      Effect.flatMap(store.findByChatIds(scope.pid, chatIds), (records) =>
        named([...new Set(chatIds)].flatMap((chatId) => records.get(chatId) ?? []).filter(isLinked)),
      );

    const pageByName = Effect.fn("OwnedLinks.pageByName")(function* (
      scope: DataScope,
      text: string,
      number: number,
      limit: number,
    ) {
      yield* guard.enter(scope, guildOf(scope));
      const order = yield* orderOf(scope);
      if (order === null) return null;
      const { linked, unlinked } = text === "" ? { linked: [], unlinked: [] } : yield* search(scope, text);
      const found = new Set(linked.map(({ chatId }) => chatId));
      const { unnamed, sortedAt } = order;
      const sorted =
        text === ""
          ? order.chatIds
          : // Users who were linked since the order was made are last.
            [...new Set([...order.chatIds.filter((chatId) => found.has(chatId)), ...found])];
      const pages = Math.max(1, Math.ceil(sorted.length / limit));
      const shown = Math.min(Math.max(1, number), pages);
      const links = yield* findMany(scope, sorted.slice((shown - 1) * limit, shown * limit));
      return { links, unlinked, page: shown, pages, unnamed, sortedAt } satisfies NamedPage;
    });

    return {
      chatsMeant,
      gamesMeant,

      find: (scope: DataScope, chatId: ChatId) =>
        Effect.map(store.findByChatId(scope.pid, chatId), (record) =>
          Option.getOrNull(Option.filter(record, isLinked)),
        ),

      /**
       * Returns links of a scope, latest verification first. Fails if a search found nobody because a platform did not
       * answer, or because no member of the account manages the guild.
       *
       * @param text a chat ID, a game ID, or an exact user name of either platform, with or without an `@`; in a guild
       * also the beginning of a member's name; empty for all links
       * @param place the position from which the page continues in `direction`; null for the first page
       */
      page,

      /**
       * Returns the first links that a search finds in each scope, as `page` does; none in a closed scope, and none, with
       * the reason, where a platform did not answer. Fails if that may be why nobody was found.
       */
      firstIn,

      /**
       * Returns links of a scope, sorted by the names of the guild's members, those who are no members last. Links that
       * were made since `sortedAt`, which is some minutes ago, are missing, or last in a search. Null if the scope has no
       * guild, or more than `mostSorted` links. Fails as `MemberLists.find`, and as `page` for a search.
       */
      pageByName,

      /** Returns the links of chat users with both profiles, omitting users without a link. */
      findMany,

      /** Emits the newest links of a scope with both profiles, in constant memory, at most 25 a second. */
      newest: (scope: DataScope, limit: number) =>
        Stream.paginate(null as NewestPosition | null, (after: NewestPosition | null) =>
          page(scope, "", after, namedAtOnce).pipe(
            Effect.map(({ links, next }) => [links, Option.fromNullOr(next)] as const),
            Effect.delay(after === null ? 0 : pauseOfNames),
          ),
        ).pipe(
          // A page without a search asks no platform for users.
          Stream.catchTag(["PlatformUnavailable", "Forbidden"], Stream.die),
          Stream.take(limit),
        ),

      /**
       * Links a chat user by the rules of `LinkWriter.setGame`. Fails with `MissingParameter` for a contested link without
       * a reason, see `makeContestOf`.
       */
      set: Effect.fn("OwnedLinks.set")(function* (
        manager: Manager,
        scope: DataScope,
        link: Pick<SetGame, "chatId" | "gameId" | "reason">,
      ) {
        const makers = "key" in manager ? (manager.owners ?? []) : [manager.chatId];
        if ((link.reason ?? "").trim() === "" && (yield* contestOf(scope.pid, makers, link)) !== null) {
          return yield* new MissingParameter({ parameters: ["reason"] });
        }
        const set = yield* writer.setGame(targetOf(manager, scope), link);
        if (set.previousGameId === null) yield* scopes.counts.add(scope.pid, 1);
        return set;
      }),

      /** Removes the link of a chat user, who need not be a member of the guild. */
      remove: Effect.fn("OwnedLinks.remove")(function* (
        manager: Manager,
        scope: DataScope,
        chatId: ChatId,
        reason: string | null = null,
      ) {
        const removed = yield* writer
          // The platform is asked nothing about the guild's members, so nobody needs to manage the guild.
          .removeGame(targetOf(manager, { ...scope, namesAnyGuild: true }), chatId, {
            requireMember: false,
            reason,
          })
          .pipe(Effect.catchTag("Conflict", Effect.die));
        yield* scopes.counts.add(scope.pid, -1);
        return removed;
      }),

      /** Puts back the link that the team removed last, by the rules of `LinkWriter.restoreGame`. */
      restore: Effect.fn("OwnedLinks.restore")(function* (
        manager: Manager,
        scope: DataScope,
        chatId: ChatId,
      ) {
        const target = targetOf(manager, { ...scope, namesAnyGuild: true });
        const link = yield* writer.restoreGame(target, chatId);
        yield* scopes.counts.add(scope.pid, 1);
        const [found] = yield* named([link]);
        return found ?? { link, chat: null, game: null };
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnedLinks, OwnedLinks.make);
}

const targetOf = (manager: Manager, scope: DataScope) => ({
  scope,
  guildId: guildOf(scope),
  origin: originOf(manager),
});
