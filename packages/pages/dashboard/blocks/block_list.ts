/** Blocks by a list of IDs and user names: the question before, the blocks in one act, and their end together. */
import { type DataScope, LinkStore } from "@accountlink/core";
import type { BlockedUser } from "@accountlink/core/admission";
import { isChatId, isGameId } from "@accountlink/core/ids";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { OwnedBlocks, OwnedLinks } from "@accountlink/core/owners";
import { Effect } from "effect";
import { type Html, html, section } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { reasonField } from "../links/link_questions.ts";
import { buttonsOr, linesField, panelTo } from "../look/field.ts";
import { byPlatforms, platforms } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { say } from "../look/say.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";

/** The most users of a list, and the most of them whom a platform has to find by their names. */
const [mostUsers, mostNames] = [500, 50];

const bounds = { users: String(mostUsers), names: String(mostNames) };

export interface BlockList {
  readonly users: ReadonlyArray<BlockedUser>;
  readonly unknown: ReadonlyArray<string>;
  /** Those of the users who are not blocked yet. */
  readonly admitted: ReadonlyArray<BlockedUser>;
  readonly links: number;
}

/** A user in a list: an ID, a mention of the chat platform, or a user name. */
const userIn = (line: string): string => /^<@!?(\d+)>$/.exec(line)?.[1] ?? line;

export const makeReadBlockList = Effect.gen(function* () {
  const blocks = yield* OwnedBlocks;
  const owned = yield* OwnedLinks;
  const store = yield* LinkStore;

  /** Returns a problem if the list has no users or too many. */
  return Effect.fnUntraced(function* (scope: DataScope, kind: string, text: string) {
    const isGame = kind === "game";
    const lines = [...new Set(text.split(/[\n,;]/).map((line) => userIn(line.trim())))].filter(Boolean);
    const names = lines.filter((line) => !(isGame ? isGameId(line) : isChatId(line)));
    if (lines.length === 0 || lines.length > mostUsers || names.length > mostNames)
      return { problem: say("blocks.list.size", bounds) };
    const found = yield* forEachLimited(
      lines,
      Effect.fnUntraced(function* (line) {
        if (isGame) {
          const [gameId] = isGameId(line) ? [line] : yield* owned.gamesMeant(line);
          return gameId === undefined ? line : { chatId: null, gameId };
        }
        const [chatId] = isChatId(line) ? [line] : yield* owned.chatsMeant(scope, line);
        return chatId === undefined ? line : { chatId, gameId: null };
      }),
      { concurrency: 4 },
    );
    const named = found.filter((one) => typeof one !== "string");
    const users = [...new Map(named.map((user) => [user.chatId ?? user.gameId, user])).values()];
    const ofChats = yield* store.findGamesByChatIds(
      scope.pid,
      users.flatMap(({ chatId }) => chatId ?? []),
    );
    const ofGames = yield* store.findByGameIds(
      scope.pid,
      users.flatMap(({ gameId }) => gameId ?? []),
    );
    return {
      users,
      unknown: found.filter((one) => typeof one === "string"),
      admitted: yield* blocks.admitted(scope, users),
      links: ofChats.size + [...ofGames.values()].flat().length,
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

/** The field of the users in the forms after the first one. */
const usersField = (users: ReadonlyArray<BlockedUser>): string =>
  users.map(({ chatId, gameId }) => chatId ?? gameId).join(",");

const actForm = (
  community: Community,
  kind: string,
  users: ReadonlyArray<BlockedUser>,
  text: Html,
  buttons: Html,
): Html => panelTo(paths.blockList, { pid: community.scope.pid, listKind: kind, users: usersField(users) })`
${text}
${buttonsOr(buttons, withQuery(paths.blocks, { pid: community.scope.pid }))}`;

export const blockListQuestion = (community: Community, kind: string, list: BlockList): Page => {
  const { users, unknown, admitted, links } = list;
  const known = users.length - admitted.length;
  return {
    title: say("blocks.list.ask", { count: admitted.length }),
    section: "links",
    content: html`
<p>${say("blocks.list.removes", { count: links })}${known > 0 && html` ${say("blocks.list.known", { count: known })}`}</p>
${unknown.length > 0 && html`<p>${say("blocks.list.unknown", { names: unknown.join(", ") })}</p>`}
<p>${say("blocks.told")}</p>
${
  users.length > 0 &&
  actForm(
    community,
    kind,
    users,
    reasonField,
    html`${
      admitted.length > 0 &&
      html`<button class="button bad" name="act" value="block">${say("blocks.list.block", { count: admitted.length })}</button>`
    }
${known > 0 && html`<button class="button quiet" name="act" value="end">${say("blocks.list.end")}</button>`}`,
  )
}`,
  };
};

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
    html`<p>${say("blocks.list.end.text")}</p>`,
    html`<button class="button quiet" name="act" value="end">${say("blocks.list.end")}</button>`,
  ),
});
