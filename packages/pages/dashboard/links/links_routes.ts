/** Routes of the link pages: the list, one user, and confirmation questions. */

import { type ChatId, GamePlatform, LinkStore } from "@accountlink/core";
import { isChatId } from "@accountlink/core/ids";
import { linkFileOf } from "@accountlink/core/imports";
import { allLinks, isLinked } from "@accountlink/core/links";
import { type Contest, makeContestOf, type NamedLink, OwnedLinks } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { Array, Effect, Option, Stream } from "effect";
import { html, type Problem } from "../../html.ts";
import { jsonRoutes } from "../api_pipeline.ts";
import { type Community, makeCommunities, noCommunityPage } from "../communities/community.ts";
import { csvStream } from "../csv_file.ts";
import type { Fields } from "../form_fields.ts";
import { guildErrors, orShowAgain, type Refused, refusedFor } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import { paths } from "../paths.ts";
import { makeLinkOperations } from "./link_operations.ts";
import {
  areSeen,
  linkQuestion,
  linksChanged,
  problemsOf,
  seenLink,
  unlinkAllRoutes,
  unlinkQuestion,
} from "./link_questions.ts";
import { listedFile, onceAtATime } from "./links_file.ts";
import { makeLinksList } from "./links_list.ts";
import { accountText, emptyLinkForm, type LinkForm } from "./links_page.ts";
import { makeLostWithLink, makeOneUserNote } from "./lost_with_link.ts";
import { linkedUserPage, makeUserLists, makeUserView } from "./user_page.ts";

/** At most this many users are unlinked together. A search finds no more members. */
const mostSelected = 100;

const noop = () => Effect.void;

export const linksRoutes = Effect.fnUntraced(function* (pages: OwnerPages) {
  const { page, form, stillMay } = pages;
  const operations = yield* makeLinkOperations;
  const unlinkAll = yield* unlinkAllRoutes(pages, operations);
  const links = yield* OwnedLinks;
  const store = yield* LinkStore;
  const profiles = yield* Profiles;
  const { findProfile: findGame } = yield* GamePlatform;
  const communities = yield* makeCommunities;
  const list = yield* makeLinksList;
  const viewUser = yield* makeUserView;
  const listsOf = yield* makeUserLists;
  const contestOf = yield* makeContestOf;
  const lostIn = yield* makeLostWithLink;
  const oneUserNote = yield* makeOneUserNote;
  /** Accounts for which a file with names is downloaded. */
  const naming = new Set<string>();

  const user = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    fields: Fields,
    chatId: ChatId,
    game: string,
    refused: Refused | null,
  ) {
    // If the request names no list, take the first list that has the user.
    const [first] = fields("pid") === "" ? (yield* listsOf(visitor, chatId)).lists : [];
    const { community } = yield* communities.choose(visitor, first?.community.scope.pid ?? fields("pid"));
    if (community === undefined) return noCommunityPage("links", say("menu.links"), say("links.none"));
    const view = yield* viewUser(visitor, community, chatId);
    return linkedUserPage(view, game, refused);
  });

  /** Finds the chat user and the game user that a form names by ID or user name, or says why it finds none. */
  const named = Effect.fnUntraced(function* (community: Community, typed: LinkForm) {
    const [[chatId], [gameId]] = yield* Effect.all(
      [links.chatsMeant(community.scope, typed.chat), links.gamesMeant(typed.game)],
      { concurrency: "unbounded" },
    );
    const known = gameId !== undefined && Option.isSome(yield* findGame(gameId)) ? gameId : undefined;
    if (chatId !== undefined && known !== undefined) return { chatId, gameId: known };
    const unknown = Object.entries({ chat: chatId, game: known }).filter(([, id]) => id === undefined);
    const reason = say("reason.known_user");
    return { problems: unknown.map(([name]) => ({ name, reason })) };
  });

  const link = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const typed = { chat: fields("chat").trim(), game: fields("game").trim() };
    const community = yield* communities.find(visitor, fields("pid"));
    const meant = yield* Effect.catchTag(named(community, typed), "PlatformUnavailable", (error) =>
      Effect.succeed({ problems: problemsOf(error) }),
    );
    const refuse = (problems: ReadonlyArray<Problem>) =>
      fields("of") === "user" && isChatId(typed.chat)
        ? user(visitor, fields, typed.chat, typed.game, refusedFor(problems))
        : list(visitor, fields, typed, problems);
    if ("problems" in meant) return yield* refuse(meant.problems);
    const { chatId, gameId } = meant;
    const { pid } = community.scope;
    const ask = Effect.fnUntraced(function* (contest: Contest | null, refused: Refused | null) {
      const old = yield* links.find(community.scope, chatId);
      const [chat, game] = yield* Effect.all([profiles.chat(chatId, null), profiles.game(gameId, [])], {
        concurrency: "unbounded",
      });
      if (old?.gameId === gameId) return seeOther(paths.linkUser, { pid, chatId, done: "alreadyLinked" });
      const replaced =
        old === null ? null : { gameId: old.gameId, game: yield* profiles.game(old.gameId, []) };
      const question = { community, chatId, chat, gameId, game };
      return linkQuestion(question, replaced, contest, fields("of"), refused);
    });
    const contest = yield* contestOf(pid, [visitor.owner.chatId], meant);
    if (fields("confirm") !== "1") return yield* ask(contest, null);
    const old = yield* links.find(community.scope, chatId);
    if (fields.all("replaced").some((id) => id !== (old?.gameId ?? "")))
      return yield* ask(contest, linksChanged);
    if (contest !== null && fields("reason").trim() === "")
      return yield* ask(contest, refusedFor([{ name: "reason", reason: say("reason.why") }]));
    return yield* operations.link.submit(visitor, fields, { chatId, gameId }).pipe(
      Effect.as(seeOther(paths.linkUser, { pid, chatId, done: "linked" })),
      Effect.catchTag(["Conflict", "Forbidden", "InvalidParameter", "PlatformUnavailable"], (error) =>
        refuse(problemsOf(error)),
      ),
    );
  });

  const unlinkPage = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    community: Community,
    found: Array.NonEmptyReadonlyArray<NamedLink>,
    refused: Refused | null = null,
  ) {
    const { pid } = community.scope;
    const others = found.length > 1 ? [] : (yield* listsOf(visitor, found[0].link.chatId)).lists;
    const lost = yield* lostIn(
      [pid],
      found.map(({ link: { chatId: id }, chat }) => ({ chatId: id, name: accountText(id, chat) })),
    );
    return unlinkQuestion(
      community,
      found,
      others.filter((other) => other.community.scope.pid !== pid),
      html`${lost}${yield* oneUserNote(community, found)}`,
      refused,
    );
  });

  const askUnlink = Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
    const community = yield* communities.find(visitor, query("pid"));
    const { pid } = community.scope;
    const search = query("q").trim();
    const searched =
      search === "" ? [] : (yield* links.page(community.scope, search, null, mostSelected)).links;
    const chatIds = [
      ...searched.map(({ link: { chatId: id } }) => id),
      ...query.all("chatId").filter(isChatId).slice(0, mostSelected),
    ];
    const [chatId] = chatIds;
    if (chatId === undefined) return seeOther(paths.links, { pid, done: "noneSelected" });
    const found = yield* links.findMany(community.scope, chatIds);
    return Array.isReadonlyArrayNonEmpty(found)
      ? yield* unlinkPage(visitor, community, found)
      : seeOther(paths.links, { pid, q: chatId });
  });

  const unlink = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const community = yield* communities.find(visitor, fields("pid"));
    const chatIds = fields.all("chat").filter(isChatId).slice(0, mostSelected);
    const [chatId] = chatIds;
    if (chatId === undefined) return seeOther(paths.links);
    const isOne = chatIds.length === 1;
    const { pid } = community.scope;
    const records = yield* store.findByChatIds(pid, chatIds);
    const marks = [...records.values()].filter(isLinked).map((each) => seenLink(pid, each));
    if (!areSeen(fields, marks)) {
      const found = yield* links.findMany(community.scope, chatIds);
      if (Array.isReadonlyArrayNonEmpty(found))
        return yield* unlinkPage(visitor, community, found, linksChanged);
    }
    const seen = isOne
      ? seeOther(paths.linkUser, { pid, chatId, done: "unlinked" })
      : seeOther(paths.links, { pid, done: "unlinkedSeveral" });
    const refused = (error: Parameters<typeof problemsOf>[0]) =>
      isOne
        ? user(visitor, fields, chatId, "", refusedFor(problemsOf(error)))
        : list(visitor, fields, emptyLinkForm, problemsOf(error));
    const removed = Effect.forEach(chatIds, (each) =>
      // Ignore links that another request has removed meanwhile.
      Effect.catchTag(operations.unlink.submit(visitor, fields, { chatId: each }), "LinkNotFound", noop),
    );
    return yield* removed.pipe(
      Effect.as(seen),
      Effect.catchTag(["Forbidden", "InvalidParameter", "PlatformUnavailable"], refused),
    );
  });

  const restore = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const chatId = fields("chatId");
    if (!isChatId(chatId)) return seeOther(paths.links);
    const show = (refused: Refused) => user(visitor, fields, chatId, "", refused);
    const done = seeOther(paths.linkUser, { pid: fields("pid"), chatId, done: "restored" });
    const restored = Effect.as(operations.restore.submit(visitor, fields, { chatId }), done);
    return yield* Effect.catchTag(
      orShowAgain(restored, show, guildErrors),
      "LinkNotFound",
      Effect.fnUntraced(function* () {
        const community = yield* communities.find(visitor, fields("pid"));
        const linked = yield* links.find(community.scope, chatId);
        // A button that is pressed twice finds its link put back.
        if (linked?.gameId === fields("game")) return done;
        return yield* show({ status: 404, problems: [], general: say("user.not_restored") });
      }),
    );
  });

  const download = Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
    const isNamed = query("names") === "true";
    const { name } = visitor.owner.account;
    if (isNamed && naming.has(name)) {
      return seeOther(paths.links, { pid: query("pid"), done: "downloading" });
    }
    const { open: chosen, failed } =
      query("pid") === "all"
        ? yield* communities.listOpen(visitor)
        : { open: [yield* communities.find(visitor, query("pid"))], failed: null };
    if (failed !== null) return yield* failed;
    const [first] = chosen;
    const text =
      first !== undefined && chosen.length === 1 && !isNamed
        ? linkFileOf(allLinks(first.scope.pid), "csv")
        : listedFile(chosen, isNamed ? links : null);
    const file = (isNamed ? onceAtATime(naming, name, text) : text).pipe(
      Stream.provideService(LinkStore, store),
      Stream.encodeText,
    );
    const pids = chosen.map(({ scope }) => scope.pid);
    return csvStream("links", file, stillMay(paths.linksFile, visitor, pids));
  });

  return [
    ...jsonRoutes(operations),
    page(paths.links, (visitor, query) => list(visitor, query, emptyLinkForm, [])),
    page(paths.linksFile, download),
    page(paths.linkUser, (visitor, query) => {
      const chatId = query("chatId");
      return isChatId(chatId)
        ? user(visitor, query, chatId, "", null)
        : Effect.succeed(seeOther(paths.links));
    }),
    form(paths.link, link),
    form(paths.restoreLink, restore),
    page(paths.unlink, askUnlink),
    form(paths.unlink, unlink),
    ...unlinkAll,
  ];
});
