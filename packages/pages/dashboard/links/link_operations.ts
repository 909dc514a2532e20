import { Communities } from "@accountlink/core/communities";
import type { NewestPosition } from "@accountlink/core/links";
import {
  type MemberPlace,
  type NamedLink,
  OwnedLinks,
  OwnedScopes,
  UnlinkedMembers,
} from "@accountlink/core/owners";
import { timeOrNull } from "@accountlink/core/timestamp";
import { listedLink } from "@accountlink/http/for_pages";
import { DashboardCommunities } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeOperation } from "../api_pipeline.ts";

/** What members and keys do with the links of a list, by JSON and by the forms of the pages. */
export const makeLinkOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const scopes = yield* OwnedScopes;
  const links = yield* OwnedLinks;
  const unlinked = yield* UnlinkedMembers;
  const communities = yield* Communities;

  return {
    list: operation(DashboardCommunities.getLinks, function* ({ owner, values: { pid, q, limit, cursor } }) {
      const scope = yield* scopes.find(owner, pid);
      const place = cursor && { lastVerifiedAt: cursor.at, chatId: cursor.chatId };
      const page = yield* links.page(scope, q.trim(), place, limit);
      return { links: page.links.map(linkJson), next: page.next && cursorOf(page.next) };
    }),

    unlinked: operation(
      DashboardCommunities.getUnlinked,
      function* ({ owner, values: { pid, guildId, q, limit, cursor } }) {
        const scope = yield* scopes.find(owner, pid);
        // The team lends its guilds to lists, but a key has the rights of an owner alone.
        if ("key" in owner) yield* communities.enter(owner, { pid, guildId });
        const page = yield* unlinked.page(scope, guildId, q.trim(), cursor, limit);
        const members = page.members.map(({ chatId, username, displayName, at, reminded }) => ({
          chatId,
          username,
          displayName,
          joined: timeOrNull(at || null),
          reminded: timeOrNull(reminded),
        }));
        const next = page.next && memberCursorOf(page.next);
        return { members, next, linked: page.linked, total: page.total };
      },
    ),

    link: operation(DashboardCommunities.putLink, function* ({ owner, values: { pid, ...link } }) {
      return yield* links.set(owner, yield* scopes.find(owner, pid), link);
    }),

    unlink: operation(
      DashboardCommunities.deleteLink,
      function* ({ owner, values: { pid, chatId, reason } }) {
        return yield* links.remove(owner, yield* scopes.find(owner, pid), chatId, reason);
      },
    ),

    restore: operation(
      DashboardCommunities.restoreLink,
      function* ({ owner, values: { pid, chatId } }) {
        return yield* links.restore(owner, yield* scopes.find(owner, pid), chatId);
      },
      (link) => ({ link: linkJson(link) }),
    ),
  };
});

/** Encodes a position as the `cursor` of the next page. */
export const cursorOf = ({ lastVerifiedAt, chatId }: NewestPosition): string => `${lastVerifiedAt}-${chatId}`;

export const memberCursorOf = ({ at, chatId }: MemberPlace): string => `${at}-${chatId}`;

const linkJson = ({ link, chat, game }: NamedLink) => ({
  ...listedLink(link),
  chat,
  game,
});
