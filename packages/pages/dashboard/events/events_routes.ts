import { EventRetention } from "@accountlink/core";
import { OwnedLinks } from "@accountlink/core/communities";
import { EventFeed } from "@accountlink/core/events";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { makeCommunities } from "../communities/communities_routes.ts";
import { type OwnerPages, positionOf } from "../owner_pages.ts";
import { paths } from "../paths.ts";
import { eventsPage, noEventsPage } from "./events_page.ts";

const pageSize = 50;

export const eventsRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const feed = yield* EventFeed;
  const links = yield* OwnedLinks;
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
        return eventsPage({
          communities: all,
          community,
          user,
          events,
          next: next === null ? null : String(next),
          keptDays,
        });
      }),
    ),
  ];
});
