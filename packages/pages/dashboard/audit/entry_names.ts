/** Names for the sentences about audit log entries and events. */

import { ChatPlatform } from "@accountlink/core";
import type { AuditAction, AuditEntry } from "@accountlink/core/audit";
import type { PlatformEffect } from "@accountlink/core/errors";
import { isChatId, isGameId, isGuildId } from "@accountlink/core/ids";
import type { KeyDetails, KeyOwner } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { visibleName } from "@accountlink/core/name_text";
import { OwnedScopes } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { Webhooks } from "@accountlink/core/webhooks";
import { Effect, Option } from "effect";
import { makeScopeNames } from "../communities/community.ts";
import { type AccountNames, listText, webhookName } from "../look/names.ts";
import { makeOwnerName, type OwnerVisitor } from "../owner_pages.ts";
import type { Names } from "./sentences.ts";

/** The most accounts of each platform that a page shows by name, because looking up a name takes a request. */
const mostNames = 50;

/** The most communities whose roles a page shows by name. */
const mostGuilds = 5;

const nameTimeout = "1 second";

const namingLists: ReadonlySet<AuditAction> = new Set([
  "account.updated",
  "links.imported",
  "links.import_undone",
]);

const orNull = <A>(found: PlatformEffect<Option.Option<A>>): Effect.Effect<A | null> =>
  found.pipe(
    Effect.map(Option.getOrNull),
    Effect.timeout(nameTimeout),
    Effect.orElseSucceed(() => null),
  );

const shownIds = <Id extends string>(ids: ReadonlyArray<Id>): ReadonlyArray<Id> =>
  [...new Set(ids)].slice(0, mostNames);

/** The names by ID, without those that are unknown. */
const named = (
  things: ReadonlyArray<{ readonly id: string; readonly name: string | null }>,
): ReadonlyMap<string, string> =>
  new Map(things.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])));

const namesOf = (profiles: ReadonlyMap<string, Parameters<typeof visibleName>[0]>) =>
  named(Array.from(profiles, ([id, profile]) => ({ id, name: visibleName(profile) })));

/** Returns a function that looks up the names of the accounts whose IDs are in fields of the records. */
export const makeAccountNames = Effect.map(
  Profiles,
  (profiles) =>
    (records: ReadonlyArray<object>): Effect.Effect<AccountNames> => {
      const idsIn = (field: RegExp) =>
        records.flatMap((record) =>
          Object.entries(record).flatMap(([name, id]) => (field.test(name) ? id : [])),
        );
      return Effect.all(
        {
          chats: Effect.map(
            profiles.chatProfiles(shownIds(idsIn(/chatId$/i).filter(isChatId)), null),
            namesOf,
          ),
          games: Effect.map(profiles.gameNames(shownIds(idsIn(/gameId$/i).filter(isGameId))), namesOf),
        },
        { concurrency: "unbounded" },
      );
    },
);

/** Returns a function that looks up the names of the signed-in user, and of the accounts and webhooks in entries. */
export const makeEntryNames = Effect.gen(function* () {
  const scopes = yield* OwnedScopes;
  const scopeName = yield* makeScopeNames;
  const { findGuild, roles, channels } = yield* ChatPlatform;

  /** Looks up the names of communities, roles and channels that entries about roles name. */
  const guildNames = Effect.fnUntraced(function* (entries: ReadonlyArray<AuditEntry>) {
    const ids = entries.map(({ details }) => details["guildId"]).filter(isGuildId);
    const withChannel = new Set(
      entries.flatMap(({ details }) =>
        Object.keys(details).some((name) => /channelId$/i.test(name)) ? String(details["guildId"]) : [],
      ),
    );
    const found = yield* forEachLimited([...new Set(ids)].slice(0, mostGuilds), mostGuilds, (guildId) =>
      Effect.all(
        [
          orNull(findGuild(guildId)),
          orNull(roles?.findGuildRoles(guildId) ?? Effect.succeedNone),
          orNull(withChannel.has(guildId) && channels ? channels.findChannels(guildId) : Effect.succeedNone),
        ],
        { concurrency: "unbounded" },
      ),
    );
    return {
      guilds: named(found.flatMap(([guild]) => guild ?? [])),
      roles: named(found.flatMap(([, guildRoles]) => guildRoles?.roles ?? [])),
      channels: named(found.flatMap(([, , guildChannels]) => guildChannels?.channels ?? [])),
    };
  });

  const ownerName = yield* makeOwnerName;
  const namesIn = yield* makeAccountNames;
  const webhooks = yield* Webhooks;
  const listNames = (owner: KeyOwner) =>
    Effect.flatMap(scopes.list(owner), (all) =>
      forEachLimited(all, 8, ({ scope }) =>
        Effect.map(scopeName(scope), (guildName) => [scope.pid, listText({ scope, guildName })] as const),
      ),
    );

  return Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    keys: ReadonlyArray<KeyDetails>,
    entries: ReadonlyArray<AuditEntry>,
  ) {
    const { owner } = visitor;
    const people = entries.map(({ actor }) => ({
      chatId: actor.type === "account" ? actor.member : actor.id,
    }));
    const ofWebhooks = entries.some(({ action }) => action.startsWith("webhook."));
    const ofAccount = ofWebhooks ? yield* webhooks.list(owner.account.name) : [];
    const ofLists = entries.some(
      ({ action, pid, details }) => (namingLists.has(action) && pid !== null) || "scopes" in details,
    );
    const lists = ofLists ? yield* listNames(owner) : [];
    const [name, accounts, guilds] = yield* Effect.all(
      [
        ownerName(owner),
        namesIn([...people, ...entries.map(({ details }) => details)]),
        guildNames(entries.filter(({ details }) => "guildId" in details)),
      ],
      { concurrency: "unbounded" },
    );
    return {
      keys,
      me: { chatId: owner.chatId, name },
      ...accounts,
      ...guilds,
      lists: new Map(lists),
      webhooks: new Map(ofAccount.map((webhook) => [webhook.id, webhookName(webhook)])),
    } satisfies Names;
  });
});
