/** The pages of blocked users: the list, and the question before a block. */
import { type ChatId, type DataScope, type GameId, LinkStore } from "@accountlink/core";
import { mostBlocks } from "@accountlink/core/admission";
import { isChatId } from "@accountlink/core/ids";
import { OwnedBlocks, OwnedLinks } from "@accountlink/core/owners";
import { DashboardBlocks } from "@accountlink/http-api";
import { Effect } from "effect";
import { Html, html, type Problem } from "../../html.ts";
import { jsonRoutes } from "../api_pipeline.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { type Community, makeCommunities, noCommunityPage } from "../communities/community.ts";
import { type Fields, fieldsFrom } from "../form_fields.ts";
import { placeIn } from "../form_values.ts";
import { readUpload, type UploadFields } from "../imports/import_upload.ts";
import { reasonField } from "../links/link_questions.ts";
import { oneUserHtml } from "../links/lost_with_link.ts";
import { buttonsOr, checkField, panelTo } from "../look/field.ts";
import { type AccountNames, nameIn, platforms } from "../look/names.ts";
import { reasonOf } from "../look/refused.ts";
import { say, tags } from "../look/say.ts";
import { type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, userPath, withQuery } from "../paths.ts";
import { firstOf, type ListedBlock, readBlockFile, reasonIn } from "./block_file.ts";
import {
  blockedBy,
  blockFileQuestion,
  blockListDone,
  blockListQuestion,
  makeFindRemoved,
  makeReadBlockList,
} from "./block_list.ts";
import { makeBlockOperations } from "./block_operations.ts";
import { blocksPage, importedIn } from "./blocks_page.ts";

const pageSize = 50;

const mostFile = 2_000_000;

/** The question before a block tells at most this many of the links that the block removes. */
const shownLinks = 10;

export const blocksRoutes = Effect.fnUntraced(function* ({ page, form, upload }: OwnerPages) {
  const blocks = yield* OwnedBlocks;
  const operations = yield* makeBlockOperations;
  const links = yield* OwnedLinks;
  const store = yield* LinkStore;
  const communities = yield* makeCommunities;
  const namesIn = yield* makeAccountNames;
  const readBlockList = yield* makeReadBlockList;
  const findRemoved = yield* makeFindRemoved;

  const list = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    fields: Fields,
    problems: ReadonlyArray<Problem> = [],
  ) {
    const { all, community } = yield* communities.choose(visitor, fields("pid"));
    if (community === undefined) return noCommunityPage("links", say("links.blocked"), say("blocks.none"));
    const found = yield* blocks.page(community.scope, placeIn(fields, DashboardBlocks.getBlocks), pageSize);
    const names = yield* namesIn(
      found.blocks.flatMap(({ chatId, gameId, member }) => [
        { chatId, gameId },
        { chatId: isChatId(member) ? member : null },
      ]),
    );
    return blocksPage({ all, community, ...found, names, imported: importedIn(fields) }, fields, problems);
  });

  /** Returns the users that a request names by their IDs, or by `kind` and an ID or a user name. */
  const usersIn = Effect.fnUntraced(function* (scope: DataScope, fields: Fields) {
    const chatId = fields("chatId");
    if (isChatId(chatId)) return { chatId, gameId: (yield* links.find(scope, chatId))?.gameId ?? null };
    const id = fields("id").trim();
    if (fields("kind") === "game") {
      const [gameId = null] = yield* links.gamesMeant(id);
      return { chatId: null, gameId };
    }
    const [meant = null] = yield* links.chatsMeant(scope, id);
    const linked = meant === null ? null : yield* links.find(scope, meant);
    return { chatId: meant, gameId: linked?.gameId ?? null };
  });

  const ask = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const community = yield* communities.find(visitor, fields("pid"));
    const { scope } = community;
    const meant = yield* Effect.catchTag(usersIn(scope, fields), "PlatformUnavailable", (error) =>
      Effect.succeed(reasonOf(error)),
    );
    if (meant instanceof Html || (meant.chatId === null && meant.gameId === null)) {
      const reason = meant instanceof Html ? meant : say("reason.known_user");
      return yield* list(visitor, fields, [{ name: "id", reason }]);
    }
    const { chatId, gameId } = meant;
    const ofGame =
      gameId === null ? [] : ((yield* store.findByGameIds(scope.pid, [gameId])).get(gameId) ?? []);
    const names = yield* namesIn([
      { chatId, gameId },
      ...ofGame.slice(0, shownLinks).map((each) => ({ chatId: each })),
    ]);
    return blockQuestion({ community, chatId, gameId, ofGame, names });
  });

  const block = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const users = usersOf(fields);
    yield* Effect.forEach(users, (user) => operations.block.submit(visitor, fields, user));
    return seeOther(paths.blocks, {
      pid: fields("pid"),
      done: users.length > 0 ? "blocked" : "noneSelected",
    });
  });

  /** Asks before the users of a file are blocked, unless all of them are. */
  const askForFile = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    pid: string,
    file: Effect.Success<ReturnType<typeof readBlockFile>>,
  ) {
    if (file === null || file.rounded > 0) {
      const typed = fieldsFrom((name) => (name === "pid" ? [pid] : []));
      const reason =
        file === null
          ? say("reason.blocks_file")
          : say("import.rounded", { count: file.rounded, platform: platforms.chat });
      return yield* list(visitor, typed, [{ name: "csv", reason }]);
    }
    const community = yield* communities.find(visitor, pid);
    const { scope } = community;
    const listed = file.listed.slice(0, mostBlocks);
    const users = yield* blocks.admitted(scope, usersOfFile(listed));
    const admitted = new Set(users);
    const { sent, csv } = firstOf(listed.filter(({ user }) => admitted.has(user)));
    const known = listed.length - users.length;
    const left = file.listed.length - known - sent.length;
    const told = { kept: String(known), wrong: String(file.wrong), left: String(left) };
    if (sent.length === 0) return seeOther(paths.blocks, { pid, imported: "0", ...told });
    const counts = { count: sent.length, known, removed: yield* findRemoved(community, usersOfFile(sent)) };
    return blockFileQuestion(community, counts, { csv, ...told });
  });

  const receiveFile = Effect.fnUntraced(function* (visitor: OwnerVisitor) {
    const decoder = new TextDecoder();
    let csv = "";
    const append = (bytes: Uint8Array) =>
      Effect.sync(() => {
        csv += decoder.decode(bytes, { stream: true });
      });
    let pid = "";
    const received = yield* readUpload(
      visitor,
      { append, end: Effect.void },
      { mostBytes: mostFile, onFields: ({ fields }: UploadFields) => void (pid = fields.get("pid") ?? "") },
    ).pipe(
      Effect.catchTag("ImportRefused", Effect.die),
      Effect.catchTag("WrongUpload", () => Effect.succeed(null)),
    );
    return askForFile(visitor, pid, received === null ? null : yield* readBlockFile(csv));
  });

  /** Blocks the users of a file, after the question. */
  const blockFile = (visitor: OwnerVisitor, fields: Fields) =>
    operations.import.submit(visitor, fields).pipe(
      Effect.map(({ imported }) =>
        seeOther(paths.blocks, {
          pid: fields("pid"),
          imported: String(imported),
          kept: fields("kept"),
          wrong: fields("wrong"),
          left: fields("left"),
        }),
      ),
      Effect.catchTag("InvalidParameter", ({ parameters }) => list(visitor, fields, parameters)),
      Effect.catchTag("Conflict", (error) =>
        list(visitor, fields, [{ name: "csv", reason: reasonOf(error) }]),
      ),
    );

  /** Asks before the users of a list are blocked, blocks them, or ends their blocks together. */
  const blockList = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const community = yield* communities.find(visitor, fields("pid"));
    const { scope } = community;
    const kind = fields("listKind");
    const meant = yield* Effect.catchTag(
      readBlockList(community, kind, fields("users")),
      "PlatformUnavailable",
      (error) => Effect.succeed({ problem: reasonOf(error) }),
    );
    if ("problem" in meant) return yield* list(visitor, fields, [{ name: "users", reason: meant.problem }]);
    const { users, admitted } = meant;
    switch (fields("act")) {
      case "block": {
        const reason = reasonIn(fields("reason"));
        const listed = admitted.map((user) => ({ user, reason }));
        return yield* blocks.importAll(visitor.owner, scope, listed).pipe(
          Effect.map(() => blockListDone(community, kind, blockedBy(meant, fields("seen")))),
          Effect.catchTag("Conflict", (error) =>
            list(visitor, fields, [{ name: "users", reason: reasonOf(error) }]),
          ),
        );
      }
      case "end":
        yield* blocks.removeAll(visitor.owner, scope, users);
        return seeOther(paths.blocks, { pid: scope.pid, done: "unblockedSeveral" });
      default:
        return blockListQuestion(community, kind, meant);
    }
  });

  return [
    ...jsonRoutes(operations),
    page(paths.blocks, (visitor, query) => list(visitor, query)),
    page(paths.blocksFile, (visitor, query) => operations.export.run(visitor, { pid: query("pid") })),
    upload(paths.blocksImport, receiveFile),
    page(paths.block, ask),
    form(paths.block, (visitor, fields) =>
      block(visitor, fields).pipe(
        Effect.catchTag("InvalidParameter", ({ parameters }) => list(visitor, fields, parameters)),
        Effect.catchTag("Conflict", (error) =>
          list(visitor, fields, [{ name: "id", reason: reasonOf(error) }]),
        ),
      ),
    ),
    form(paths.blockList, (visitor, fields) =>
      fields("act") === "file" ? blockFile(visitor, fields) : blockList(visitor, fields),
    ),
    form(paths.unblock, (visitor, fields) =>
      Effect.as(
        Effect.forEach(usersOf(fields), (user) => operations.unblock.submit(visitor, fields, user)),
        fields("user") === ""
          ? seeOther(paths.blocks, { pid: fields("pid"), done: "unblocked" })
          : seeOther(paths.linkUser, { pid: fields("pid"), chatId: fields("user"), done: "unblocked" }),
      ),
    ),
  ];
});

/** The chat user and the game user that a form names, for one operation each. */
const usersOf = (fields: Fields) =>
  [
    { chatId: fields("chatId") || undefined, gameId: undefined },
    { chatId: undefined, gameId: fields("gameId") || undefined },
  ].filter(({ chatId, gameId }) => chatId !== gameId);

const usersOfFile = (listed: ReadonlyArray<ListedBlock>) => listed.map(({ user }) => user);

interface BlockQuestion {
  readonly community: Community;
  readonly chatId: ChatId | null;
  readonly gameId: GameId | null;
  /** The chat users who are linked to the game user. */
  readonly ofGame: ReadonlyArray<ChatId>;
  readonly names: AccountNames;
}

const blockQuestion = ({ community, chatId, gameId, ofGame, names }: BlockQuestion): Page => {
  const { pid } = community.scope;
  const shown = ofGame.slice(0, shownLinks).map((each) => nameIn(names.chats, each));
  const more = ofGame.length - shown.length;
  return {
    title: say("blocks.ask"),
    section: "links",
    content: html`
<p>${
      ofGame.length === 0
        ? say("blocks.nothing")
        : say("blocks.removes", {
            count: ofGame.length,
            b: tags.b,
            users: more > 0 ? say("blocks.more", { users: shown.join(", "), count: more }) : shown.join(", "),
            game: gameId === null ? "" : nameIn(names.games, gameId),
            platform: platforms.chat,
          })
    }</p>
${ofGame.length > 1 && community.settings.oneChatUser && oneUserHtml}
<p>${say("blocks.told")}</p>
${panelTo(paths.block, { pid })`
${chatId !== null && checkField("chatId", say("blocks.account", { name: nameIn(names.chats, chatId), platform: platforms.chat }), true, chatId)}
${gameId !== null && checkField("gameId", say("blocks.account", { name: nameIn(names.games, gameId), platform: platforms.game }), true, gameId)}
${reasonField}
${buttonsOr(html`<button class="button bad">${say("blocks.button")}</button>`, chatId === null ? withQuery(paths.blocks, { pid }) : userPath(pid, chatId))}`}`,
  };
};
