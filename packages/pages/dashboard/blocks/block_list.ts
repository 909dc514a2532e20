/** Blocks by a list of IDs and user names, or by a file: the question before, the blocks in one act, and their end together. */
import { LinkStore } from "@accountlink/core";
import type { BlockedUser } from "@accountlink/core/admission";
import { isChatId, isGameId } from "@accountlink/core/ids";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { OwnedBlocks, OwnedLinks } from "@accountlink/core/owners";
import { Effect } from "effect";
import { type Html, html, section } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { reasonField } from "../links/link_questions.ts";
import { makeOneUserNote } from "../links/lost_with_link.ts";
import { buttonsOr, linesField, panelTo } from "../look/field.ts";
import { byPlatforms, platforms } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { say } from "../look/say.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";

/** The most users of a list, and the most names that a platform has to find. */
const [mostUsers, mostNames] = [500, 50];

const bounds = { users: String(mostUsers), names: String(mostNames) };

export interface BlockList {
  readonly users: ReadonlyArray<BlockedUser>;
  readonly unknown: ReadonlyArray<string>;
  readonly admitted: ReadonlyArray<BlockedUser>;
  readonly removed: RemovedLinks;
}

interface RemovedLinks {
  readonly count: number;
  /** What keeps them from being put back; null if nothing does. */
  readonly note: Html | null;
}

/** A user in a list: an ID, a mention of the chat platform, or a user name. */
const userIn = (line: string): string => /^<@!?(\d+)>$/.exec(line)?.[1] ?? line;

export const makeFindRemoved = Effect.gen(function* () {
  const store = yield* LinkStore;
  const oneUserNote = yield* makeOneUserNote;
  return Effect.fnUntraced(function* (community: Community, users: ReadonlyArray<BlockedUser>) {
    const { pid } = community.scope;
    const ofChats = yield* store.findGamesByChatIds(
      pid,
      users.flatMap(({ chatId }) => chatId ?? []),
    );
    const ofGames = yield* store.findByGameIds(
      pid,
      users.flatMap(({ gameId }) => gameId ?? []),
    );
    const links = [...ofChats.values(), ...ofGames.keys()].map((gameId) => ({ link: { gameId } }));
    return {
      count: new Set([...ofChats.keys(), ...[...ofGames.values()].flat()]).size,
      note: yield* oneUserNote(community, links),
    } satisfies RemovedLinks;
  });
});

export const makeReadBlockList = Effect.gen(function* () {
  const blocks = yield* OwnedBlocks;
  const owned = yield* OwnedLinks;
  const findRemoved = yield* makeFindRemoved;

  /** Returns a problem if the list has no users or too many. */
  return Effect.fnUntraced(function* (community: Community, kind: string, text: string) {
    const { scope } = community;
    const isGame = kind === "game";
    const lines = [...new Set(text.split(/[\n,;]/).map((line) => userIn(line.trim())))].filter(Boolean);
    const names = lines.filter((line) => !(isGame ? isGameId(line) : isChatId(line)));
    if (lines.length === 0 || lines.length > mostUsers || names.length > mostNames)
      return { problem: say("blocks.list.size", bounds) };
    const found = yield* forEachLimited(
      lines,
      4,
      Effect.fnUntraced(function* (line) {
        if (isGame) {
          const [gameId] = isGameId(line) ? [line] : yield* owned.gamesMeant(line);
          return gameId === undefined ? line : { chatId: null, gameId };
        }
        const [chatId] = isChatId(line) ? [line] : yield* owned.chatsMeant(scope, line);
        return chatId === undefined ? line : { chatId, gameId: null };
      }),
    );
    const named = found.filter((one) => typeof one !== "string");
    const users = [...new Map(named.map((user) => [user.chatId ?? user.gameId, user])).values()];
    return {
      users,
      unknown: found.filter((one) => typeof one === "string"),
      admitted: yield* blocks.admitted(scope, users),
      removed: yield* findRemoved(community, users),
    } satisfies BlockList;
  });
});

const usersHint = byPlatforms(({ hasGameNames }) =>
  hasGameNames
    ? say("blocks.list.hint", bounds)
    : say("blocks.list.hint_on", { ...bounds, platform: platforms.chat }),
);

export const blockListForm = (community: Community, kinds: Html, value: string): Html => {
  const { pid } = community.scope;
  return section(say("blocks.list"), "list")`
${panelTo(paths.blockList, { pid })`
${kinds}
${linesField({ name: "users", label: say("blocks.list.users"), hint: usersHint, value })}
<button class="button quiet">${say("blocks.list.next")}</button>`}`;
};

const idOf = ({ chatId, gameId }: BlockedUser): string => chatId ?? gameId ?? "";

/** The field of users in the forms after the first one. */
const usersField = (users: ReadonlyArray<BlockedUser>): string => users.map(idOf).join(",");

/**
 * The users of a form: its page counted them, and the second press of its button finds the same users.
 *
 * @param admitted the users who are not blocked yet
 */
export const blockedBy = ({ users, admitted }: BlockList, seen: string): ReadonlyArray<BlockedUser> => {
  const ids = new Set([...admitted.map(idOf), ...seen.split(",")]);
  return users.filter((user) => ids.has(idOf(user)));
};

/** @param seen the users of the list who are not blocked yet */
const actForm = (
  { scope: { pid } }: Community,
  kind: string,
  users: ReadonlyArray<BlockedUser>,
  content: Html,
  seen: ReadonlyArray<BlockedUser> = [],
): Html =>
  panelTo(paths.blockList, {
    pid,
    listKind: kind,
    users: usersField(users),
    seen: usersField(seen),
  })`${content}`;

/** How many users a question is about, how many of a list are blocked already, and what the blocks remove. */
interface BlockCounts extends Pick<BlockList, "removed"> {
  readonly count: number;
  readonly known: number;
}

const question = ({ count, known, removed }: BlockCounts, form: Html | null, unknown = ""): Page => ({
  title: say("blocks.list.ask", { count }),
  section: "links",
  content: html`
<p>${say("blocks.list.removes", { count: removed.count })}${known > 0 && html` ${say("blocks.list.known", { count: known })}`}</p>
${removed.note}
${unknown !== "" && html`<p>${say("blocks.list.unknown", { names: unknown })}</p>`}
<p>${say("blocks.told")}</p>
${form}`,
});

const blockButton = (act: "block" | "file", count: number): Html =>
  html`<button class="button bad" name="act" value="${act}">${say("blocks.list.block", { count })}</button>`;

export const blockListQuestion = (community: Community, kind: string, list: BlockList): Page => {
  const { users, unknown, admitted, removed } = list;
  const count = admitted.length;
  const known = users.length - count;
  const buttons = html`${count > 0 && blockButton("block", count)}
${known > 0 && html`<button class="button quiet" name="act" value="end">${say("blocks.list.end")}</button>`}`;
  const content = html`${reasonField}
${buttonsOr(buttons, withQuery(paths.blocks, { pid: community.scope.pid }))}`;
  const form = users.length === 0 ? null : actForm(community, kind, users, content, admitted);
  return question({ count, known, removed }, form, unknown.join(", "));
};

/**
 * Asks before the users of a file are blocked.
 *
 * @param values the blocks as a file, and the counts of rows that the page tells afterwards
 */
export const blockFileQuestion = (
  { scope: { pid } }: Community,
  counts: BlockCounts,
  values: Readonly<Record<"csv" | "kept" | "wrong" | "left", string>>,
): Page =>
  question(
    counts,
    panelTo(paths.blockList, { pid, ...values })`
${buttonsOr(blockButton("file", counts.count), withQuery(paths.blocks, { pid }))}`,
  );

/** Says that users were blocked, with the way to take it back. */
export const blockListDone = (
  community: Community,
  kind: string,
  blocked: ReadonlyArray<BlockedUser>,
): Page => ({
  title: say("links.blocked"),
  section: "links",
  notice: statusHtml(say("blocks.list.done", { count: blocked.length })),
  content: actForm(
    community,
    kind,
    blocked,
    html`
<p>${say("blocks.list.end.text")}</p>
${buttonsOr(
  html`<button class="button quiet" name="act" value="end">${say("blocks.list.end")}</button>`,
  withQuery(paths.blocks, { pid: community.scope.pid }),
  say("user.blocked_here"),
)}`,
  ),
});
