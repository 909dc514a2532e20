import { EventRetention } from "@accountlink/core";
import { OwnedLinks } from "@accountlink/core/communities";
import { EventFeed } from "@accountlink/core/events";
import { isChatId, isGameId } from "@accountlink/core/ids";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { makeAccountNames } from "../audit/entry_names.ts";
import { makeCommunities } from "../communities/communities_routes.ts";
import { type OwnerPages, positionOf } from "../owner_pages.ts";
import { paths } from "../paths.ts";
import { eventsPage, noEventsPage } from "./events_page.ts";

const pageSize = 50;

export const eventsRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const feed = yield* EventFeed;
  const links = yield* OwnedLinks;
  const { chatNames, gameNames } = yield* makeAccountNames;
  const communities = yield* makeCommunities;
  const keptDays = Math.floor((yield* EventRetention) / dayMs);

  return [
    page(
      paths.events,
      Effect.fnUntraced(function* (visitor, query) {
        const { all, community } = yield* communities.choose(visitor, query("pid"));
        if (community === undefined) return noEventsPage;
        const user = query("user").trim();
        const [chatId = null] = yield* links.chatsMeant(community.scope, user);
        const before = positionOf(query("cursor"));
        const isNobody = user !== "" && chatId === null;
        const { events, next } = isNobody
          ? { events: [], next: null }
          : yield* feed.history(community.scope.pid, before, pageSize, { types: null, chatId, gameId: null });
        const named = events.map(({ data }): Readonly<Record<string, unknown>> => ({ ...data }));
        return eventsPage({
          communities: all,
          community,
          user,
          events,
          names: {
            chats: yield* chatNames(
              named.flatMap((data) => [data["chatId"], data["previousChatId"]]).filter(isChatId),
            ),
            games: yield* gameNames(
              named.flatMap((data) => [data["gameId"], data["previousGameId"]]).filter(isGameId),
            ),
          },
          next: next === null ? null : String(next),
          keptDays,
        });
      }),
    ),
  ];
});
