import { guildOf } from "@accountlink/core";
import { forEachLimited } from "@accountlink/core/limited_loops";
import type { NewestPosition } from "@accountlink/core/links";
import {
  type MemberPlace,
  type NamedLink,
  OwnedAccounts,
  OwnedLinks,
  type OwnedScope,
  OwnedScopes,
  UnlinkedMembers,
} from "@accountlink/core/owners";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import { DashboardCommunities } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeAccountNames, requireConfirmed } from "../account_names.ts";
import { makeApiPipeline } from "../api_pipeline.ts";
import { given } from "../form_values.ts";
import { makeScopeNames } from "./community.ts";

/** What members and keys do with communities and links, by JSON and by the forms of the pages. */
export const makeCommunityOperations = Effect.gen(function* () {
  const { bind, bindManaged, managedOperation } = yield* makeApiPipeline;
  const scopes = yield* OwnedScopes;
  const links = yield* OwnedLinks;
  const unlinked = yield* UnlinkedMembers;
  const accounts = yield* OwnedAccounts;
  const nameOf = yield* makeScopeNames;
  const accountNames = yield* makeAccountNames;

  const toJson = Effect.fnUntraced(function* ({ scope, settings, keys }: OwnedScope) {
    return {
      pid: scope.pid,
      scope: scope.kind,
      guildId: guildOf(scope),
      name: yield* nameOf(scope),
      links: yield* scopes.counts.recentOf(scope.pid),
      keys,
      settings,
    };
  });

  return {
    list: bind(DashboardCommunities.getScopes, function* ({ owner }) {
      const listed = yield* scopes.list(owner);
      return { data: { scopes: yield* forEachLimited(listed, toJson, { concurrency: 8 }) } };
    }),

    find: bindManaged(DashboardCommunities.getScope, function* ({ owner, values: { pid } }) {
      return { data: { scope: yield* toJson(yield* scopes.owned(owner, pid)) } };
    }),

    update: managedOperation(
      DashboardCommunities.patchScope,
      function* ({ owner, values: { pid, ...update } }) {
        return yield* toJson(yield* scopes.update(owner, pid, given(update)));
      },
      (scope) => ({ data: { scope } }),
    ),

    deleteData: bind(DashboardCommunities.deleteScope, function* ({ owner, values: { pid, confirm } }) {
      const { scope, settings } = yield* scopes.managed(owner, pid);
      const names = [yield* nameOf(scope), settings.displayName, ...(yield* accountNames(owner.account))];
      yield* requireConfirmed(confirm, names);
      return { data: { deletedRecords: yield* accounts.deleteData(owner, pid) } };
    }),

    links: bindManaged(
      DashboardCommunities.getLinks,
      function* ({ owner, values: { pid, q, limit, cursor } }) {
        const scope = yield* scopes.find(owner, pid);
        const place = cursor && { lastVerifiedAt: cursor.at, chatId: cursor.chatId };
        const page = yield* links.page(scope, q.trim(), place, limit);
        return { data: { links: page.links.map(linkJson), next: page.next && cursorOf(page.next) } };
      },
    ),

    unlinked: bindManaged(
      DashboardCommunities.getUnlinked,
      function* ({ owner, values: { pid, guildId, q, limit, cursor } }) {
        const scope = yield* scopes.find(owner, pid);
        const page = yield* unlinked.page(scope, guildId, q.trim(), cursor, limit);
        const members = page.members.map(({ chatId, username, displayName, at, reminded }) => ({
          chatId,
          username,
          displayName,
          joined: timeOrNull(at || null),
          reminded: timeOrNull(reminded),
        }));
        const next = page.next && memberCursorOf(page.next);
        return { data: { members, next, linked: page.linked, total: page.total } };
      },
    ),

    link: bindManaged(DashboardCommunities.putLink, function* ({ owner, values: { pid, ...link } }) {
      return { data: yield* links.set(owner, yield* scopes.find(owner, pid), link) };
    }),

    unlink: bindManaged(
      DashboardCommunities.deleteLink,
      function* ({ owner, values: { pid, chatId, reason } }) {
        return { data: yield* links.remove(owner, yield* scopes.find(owner, pid), chatId, reason) };
      },
    ),
  };
});

/** Encodes a position as the `cursor` of the next page. */
export const cursorOf = ({ lastVerifiedAt, chatId }: NewestPosition): string => `${lastVerifiedAt}-${chatId}`;

export const memberCursorOf = ({ at, chatId }: MemberPlace): string => `${at}-${chatId}`;

const linkJson = ({ link, chat, game }: NamedLink) => ({
  chatId: link.chatId,
  gameId: link.gameId,
  linkVersion: link.linkVersion,
  lastVerifiedAt: formatTimestamp(link.lastVerifiedAt),
  chat,
  game,
});
