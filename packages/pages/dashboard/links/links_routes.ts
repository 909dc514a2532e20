/** Routes of the link pages: the list, one user, and confirmation questions. */
import { AuditLog, type ChatId, LinkStore, OwnedKeys } from "@accountlink/core";
import { readableActions } from "@accountlink/core/accounts";
import { type LinkPage, makeByHand, type NamedLink, OwnedLinks } from "@accountlink/core/communities";
import type {
  Forbidden,
  InvalidParameter,
  ParameterProblem,
  PlatformUnavailable,
} from "@accountlink/core/errors";
import { isChatId } from "@accountlink/core/ids";
import { allLinks, linkFileOf, type NewestPosition } from "@accountlink/core/links";
import { Profiles } from "@accountlink/core/platforms";
import { Effect, Stream } from "effect";
import { makeEntryNames } from "../audit/entry_names.ts";
import { type Names } from "../audit/sentences.ts";
import { cursorOf } from "../communities/communities_api.ts";
import { makeCommunities } from "../communities/communities_routes.ts";
import { type Community } from "../communities/community.ts";
import { messageText } from "../look/list_name.ts";
import { noticeHtml } from "../look/notice.ts";
import { type Fields, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import { csvResponse } from "../page_response.ts";
import { paths, withQuery } from "../paths.ts";
import { foundPage } from "./found_page.ts";
import { linkQuestion, unlinkQuestion, unlinkSeveralQuestion } from "./link_questions.ts";
import { listedFile } from "./links_file.ts";
import {
  byName,
  emptyLinkForm,
  type LinkForm,
  type LinkSort,
  linksPage,
  noLinksPage,
  userPath,
} from "./links_page.ts";
import { unlinkAllRoutes } from "./unlink_all.ts";
import { makeUserLists } from "./user_lists.ts";
import { linkedUserPage } from "./user_page.ts";

const pageSize = 25;

/** A search in all lists shows at most this many links of each list. */
const foundPerList = 10;

/** A search shows at most this many users without a link. */
const shownUnlinked = 10;

const shownChanges = 50;

type WriteRefusal = Forbidden | InvalidParameter | PlatformUnavailable;

export const linksRoutes = Effect.fnUntraced(function* (pages: OwnerPages) {
  const { page, form } = pages;
  const unlinkAll = yield* unlinkAllRoutes(pages);
  const links = yield* OwnedLinks;
  const store = yield* LinkStore;
  const profiles = yield* Profiles;
  const communities = yield* makeCommunities;
  const viewUser = yield* makeUserView;
  const listsOf = yield* makeUserLists;
  const byHandOf = yield* makeByHand;

  const list = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    fields: Fields,
    typed: LinkForm,
    problems: ReadonlyArray<ParameterProblem>,
  ) {
    const { all, community } = yield* communities.choose(visitor, fields("pid"));
    if (community === undefined) return noLinksPage(visitor);
    const search = fields("q").trim();
    if (search !== "" && fields("pid") === "" && all.length > 1) return yield* foundIn(all, search, visitor);
    const sort: LinkSort = fields("sort") === "name" ? "name" : "time";
    const direction = fields("direction") === "newer" ? "newer" : "older";
    const found = yield* links.page(community.scope, search, placeOf(fields("cursor")), pageSize, direction);
    const view = {
      communities: all,
      community,
      search,
      sort,
      links: sort === "name" ? found.links.toSorted(byName) : found.links,
      byHand: yield* byHandOf(
        community.scope,
        found.links.map(({ link }) => link),
      ),
      next: found.next && cursorOf(found.next),
      previous: found.previous && cursorOf(found.previous),
      unlinked: yield* withProfiles(found),
    };
    return linksPage(view, typed, visitor, noticeHtml(fields("done")), problems);
  });

  const foundIn = Effect.fnUntraced(function* (
    all: ReadonlyArray<Community>,
    search: string,
    visitor: OwnerVisitor,
  ) {
    const found = yield* Effect.forEach(
      all,
      Effect.fnUntraced(function* (community) {
        const first = yield* links.page(community.scope, search, null, foundPerList);
        return {
          community,
          links: first.links,
          byHand: yield* byHandOf(
            community.scope,
            first.links.map(({ link }) => link),
          ),
          next: first.next && cursorOf(first.next),
          unlinked: yield* withProfiles(first),
        };
      }),
      { concurrency: 4 },
    );
    const some = found.filter((each) => each.links.length + each.unlinked.length > 0);
    return foundPage(search, some, visitor);
  });

  const withProfiles = ({ unlinked }: LinkPage) =>
    Effect.forEach(unlinked.slice(0, shownUnlinked), (chatId) =>
      Effect.map(profiles.chat(chatId, null), (chat) => ({ chatId, chat })),
    );

  const user = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    fields: Fields,
    chatId: ChatId,
    game: string,
    problems: ReadonlyArray<ParameterProblem>,
  ) {
    // If the request names no list, take the first list that has the user.
    const [first] = fields("pid") === "" ? yield* listsOf(visitor, chatId) : [];
    const { community } = yield* communities.choose(visitor, first?.community.scope.pid ?? fields("pid"));
    if (community === undefined) return noLinksPage(visitor);
    const view = yield* viewUser(visitor, community, chatId);
    return linkedUserPage(view, game, visitor, noticeHtml(fields("done")), problems);
  });

  /** Finds the chat user and the game user that a form names by ID or user name, or says why it finds none. */
  const named = Effect.fnUntraced(
    function* (community: Community, typed: LinkForm) {
      const [[chatId], [gameId]] = yield* Effect.all(
        [links.chatsMeant(community.scope, typed.chat), links.gamesMeant(typed.game)],
        { concurrency: 2 },
      );
      if (chatId !== undefined && gameId !== undefined) return { chatId, gameId };
      const unknown = Object.entries({ chat: chatId, game: gameId }).filter(([, id]) => id === undefined);
      const reason = "nobody was found with this ID or user name";
      return { problems: unknown.map(([name]) => ({ name, reason })) };
    },
    Effect.catchTag("PlatformUnavailable", (error) => Effect.succeed({ problems: problemsOf(error) })),
  );

  const link = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const typed = { chat: fields("chat").trim(), game: fields("game").trim() };
    const community = yield* communities.find(visitor, fields("pid"));
    const meant = yield* named(community, typed);
    const refuse = (problems: ReadonlyArray<ParameterProblem>) =>
      fields("of") === "user" && isChatId(typed.chat)
        ? user(visitor, fields, typed.chat, typed.game, problems)
        : list(visitor, fields, typed, problems);
    if ("problems" in meant) return yield* refuse(meant.problems);
    const { chatId, gameId } = meant;
    if (fields("confirm") !== "1") {
      const old = yield* links.find(community.scope, chatId);
      const [chat, game] = yield* Effect.all([profiles.chat(chatId, null), profiles.game(gameId)], {
        concurrency: 2,
      });
      const replaced =
        old === null || old.gameId === gameId
          ? null
          : { gameId: old.gameId, game: yield* profiles.game(old.gameId) };
      return linkQuestion({ community, chatId, chat, gameId, game }, replaced, visitor);
    }
    const set = Effect.as(
      links.set(visitor.owner, community.scope, { chatId, gameId }),
      seeOther(`${userPath(community.scope.pid, chatId)}&done=linked`),
    );
    const refused = (error: WriteRefusal) => refuse(problemsOf(error));
    return yield* Effect.catchTag(set, ["Forbidden", "InvalidParameter", "PlatformUnavailable"], refused);
  });

  const askUnlink = Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
    const community = yield* communities.find(visitor, query("pid"));
    const chatIds = query.all("chatId").filter(isChatId).slice(0, pageSize);
    const { pid } = community.scope;
    const [chatId] = chatIds;
    if (chatId === undefined) return seeOther(withQuery(paths.links, { pid, done: "noneSelected" }));
    const found = yield* links.findMany(community.scope, chatIds);
    const [one] = found;
    if (one === undefined) return seeOther(withQuery(paths.links, { pid, q: chatId }));
    if (chatIds.length > 1) return unlinkSeveralQuestion(community, found, visitor);
    const others = (yield* listsOf(visitor, one.link.chatId)).filter(
      (other) => other.community.scope.pid !== pid,
    );
    return unlinkQuestion({ community, ...one.link, chat: one.chat, game: one.game }, others, visitor);
  });

  const unlink = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const community = yield* communities.find(visitor, fields("pid"));
    const chatIds = fields.all("chat").filter(isChatId).slice(0, pageSize);
    const [chatId] = chatIds;
    if (chatId === undefined) return seeOther(paths.links);
    const isOne = chatIds.length === 1;
    const seen = seeOther(
      isOne
        ? `${userPath(community.scope.pid, chatId)}&done=unlinked`
        : withQuery(paths.links, { pid: community.scope.pid, done: "unlinkedSeveral" }),
    );
    const refused = (error: WriteRefusal) =>
      isOne
        ? user(visitor, fields, chatId, "", problemsOf(error))
        : list(visitor, fields, emptyLinkForm, problemsOf(error));
    return yield* Effect.forEach(chatIds, (each) =>
      // Ignore links that another request has removed meanwhile.
      Effect.catchTag(links.remove(visitor.owner, community.scope, each), "LinkNotFound", () => Effect.void),
    ).pipe(Effect.as(seen), Effect.catchTag(["Forbidden", "PlatformUnavailable"], refused));
  });

  const file = Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
    const isNamed = query("names") === "true";
    const chosen =
      query("pid") === "all"
        ? yield* communities.list(visitor)
        : [yield* communities.find(visitor, query("pid"))];
    const [first] = chosen;
    const text =
      first !== undefined && chosen.length === 1 && !isNamed
        ? linkFileOf(allLinks(first.scope.pid), "csv")
        : listedFile(chosen, isNamed ? links : null);
    return csvResponse(
      "links",
      text.pipe(
        Stream.provideService(LinkStore, store),
        // Breaks the connection on an error, so that nobody takes a partial file for a complete one.
        Stream.orDie,
        Stream.encodeText,
      ),
    );
  });

  return [
    page(paths.links, (visitor, query) => list(visitor, query, emptyLinkForm, [])),
    page(paths.linksFile, file),
    page(paths.linkUser, (visitor, query) => {
      const chatId = query("chatId");
      return isChatId(chatId) ? user(visitor, query, chatId, "", []) : Effect.succeed(seeOther(paths.links));
    }),
    form(paths.link, link),
    page(paths.unlink, askUnlink),
    form(paths.unlink, unlink),
    ...unlinkAll,
  ];
});

const problemsOf = (error: WriteRefusal): ReadonlyArray<ParameterProblem> => {
  switch (error._tag) {
    case "InvalidParameter":
      return error.parameters.map(({ name, reason }) => ({
        name: name === "gameId" ? "game" : "chat",
        reason,
      }));
    case "Forbidden":
      return [{ name: "chat", reason: messageText(error) }];
    case "PlatformUnavailable":
      return [{ name: "chat", reason: "the platform does not answer; try again in a moment" }];
  }
};

const placeOf = (text: string): NewestPosition | null => {
  const [time, chatId] = text.split("-");
  const lastVerifiedAt = Number(time);
  return time && isChatId(chatId) && Number.isSafeInteger(lastVerifiedAt) ? { lastVerifiedAt, chatId } : null;
};

/** Returns a function that collects the data for the page of a chat user. */
const makeUserView = Effect.gen(function* () {
  const listsOf = yield* makeUserLists;
  const profiles = yield* Profiles;
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const namesOf = yield* makeEntryNames;

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, community: Community, chatId: ChatId) {
    const { account } = visitor.owner;
    const { pid } = community.scope;
    const filter = { action: null, keyId: null, chatId, pid, readable: readableActions(visitor.role) };
    const [lists, history, listed, chat] = yield* Effect.all(
      [
        listsOf(visitor, chatId),
        log.list(account.name, null, shownChanges, filter),
        keys.list(account),
        profiles.chat(chatId, null),
      ],
      { concurrency: 4 },
    );
    const own = lists.find((list) => list.community.scope.pid === pid)?.link;
    const link: NamedLink | null = own === undefined ? null : { ...own, chat };
    const named = yield* namesOf(visitor, listed, history);
    const names: Names = {
      ...named,
      chats: new Map([
        ...named.chats,
        ...(chat === null ? [] : [[chatId, chat.displayName ?? chat.username ?? chatId] as const]),
      ]),
      games: new Map([
        ...named.games,
        ...(link === null || link.game === null
          ? []
          : [[link.link.gameId, link.game.displayName ?? link.game.username ?? link.link.gameId] as const]),
      ]),
    };
    return { community, chatId, chat, link, lists, history, names };
  });
});
