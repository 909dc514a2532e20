/** The section Events: recent events of a community from the feed that bots read, newest first. */
import { EventRetention, type Pid } from "@accountlink/core";
import { EventFeed, type EventSource, type FeedEvent } from "@accountlink/core/events";
import { isChatId } from "@accountlink/core/ids";
import { OwnedLinks } from "@accountlink/core/owners";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { counted } from "../../english_counts.ts";
import { type Html, html, to } from "../../html.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { communityField, makeCommunities, noCommunityPage } from "../communities/community.ts";
import { filtersOf, textField } from "../look/field.ts";
import { type AccountNames, listText, nameIn } from "../look/names.ts";
import { say } from "../look/say.ts";
import { nextPage } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import { type OwnerPages, positionOf } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, userPath, withQuery } from "../paths.ts";

const pageSize = 50;

export const eventsRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const feed = yield* EventFeed;
  const links = yield* OwnedLinks;
  const namesIn = yield* makeAccountNames;
  const communities = yield* makeCommunities;
  const keptDays = Math.floor((yield* EventRetention) / dayMs);

  return [
    page(paths.events, function* (visitor, query) {
      const { all, community } = yield* communities.choose(visitor, query("pid"));
      if (community === undefined)
        return noCommunityPage("events", say("menu.events"), say("links.none.events"));
      const { pid } = community.scope;
      const user = query("user").trim();
      const [chatId = null] = yield* links.chatsMeant(community.scope, user);
      const before = positionOf(query("cursor"));
      const isNobody = user !== "" && chatId === null;
      const { events, next } = isNobody
        ? { events: [], next: null }
        : yield* feed.history(pid, before, pageSize, { types: null, chatId, gameId: null });
      const known = yield* namesIn(events.map(({ data }) => data));
      return {
        title: "Events",
        section: "events",
        content: html`
<p>What happened in ${listText(community)} in the last ${counted(keptDays, "day")}, newest first. Bots read the same
from <code>/v2/events</code>. The <a href="${to(paths.audit)}">audit log</a> shows who made each change.</p>
${filtersOf(paths.events, "Show", "search")`
${communityField(all, pid)}
${textField({ name: "user", label: "About the user", hint: "ID or user name", type: "search", value: user })}`}
${
  events.length === 0
    ? html`<p class="empty">${user === "" ? "There are no recent events." : `There are no recent events of “${user}”.`}</p>`
    : html`<ul class="history" role="list">${events.map(
        (event) =>
          html`<li><span>${sentenceOf(event, pid, known)}</span> <small>${timeHtml(event.at)} · <code>${event.id}</code></small></li>`,
      )}</ul>`
}
${nextPage(next === null ? null : withQuery(paths.events, { pid, user, cursor: next }), "Older events")}`,
      } satisfies Page;
    }),
  ];
});

const sources: Readonly<Record<EventSource, string>> = {
  api: "by a key",
  flow: "by verifying",
  user: "by the user",
  dashboard: "on the dashboard",
  operator: "by who runs it",
};

const sentenceOf = (event: FeedEvent, pid: Pid, { chats, games }: AccountNames): Html => {
  const user = (id: string | null) => userOf(id, pid, chats);
  const game = (id: string) => nameIn(games, id, `account ${id}`);
  switch (event.type) {
    case "link.set": {
      const { chatId, gameId, previousGameId, source } = event.data;
      const instead = previousGameId === null ? "" : `, in place of ${game(previousGameId)}`;
      return html`${user(chatId)} was linked to ${game(gameId)}${instead}, ${sources[source]}`;
    }
    case "link.moved": {
      const { chatId, previousChatId, gameId, source } = event.data;
      return html`The link to ${game(gameId)} went from ${user(previousChatId)} to ${user(chatId)}, ${sources[source]}`;
    }
    case "link.removed": {
      const { chatId, previousGameId, source } = event.data;
      return html`${user(chatId)} was unlinked from ${game(previousGameId)}, ${sources[source]}`;
    }
    case "links.imported":
      return event.isUndo === true
        ? html`An import was undone, which changed ${counted(event.data.count, "link")}`
        : html`${counted(event.data.count, "link")} came with an import`;
    case "scope.deleted":
      return html`All links were deleted: ${counted(event.data.deletedRecords, "record")}, ${sources[event.data.source]}`;
    case "user.erased":
      // Readers of the feed erase the user by the ID. The page has no further use for a name.
      return html`${isChatId(event.data.chatId) ? `User ${event.data.chatId}` : "A user"} was erased`;
    case "session.completed":
      return html`${user(event.data.chatId)} completed the verification of ${event.data.clientId}`;
    case "session.failed":
      return html`The verification of ${event.data.clientId} failed`;
    case "session.cancelled":
      return html`The verification of ${event.data.clientId} was cancelled`;
  }
};

const userOf = (id: string | null, pid: Pid, names: AccountNames["chats"]): Html =>
  isChatId(id)
    ? html`<a href="${to(userPath(pid, id))}">${nameIn(names, id, `User ${id}`)}</a>`
    : html`An erased user`;
