/** Names for the sentences about audit log entries and events. */
import type { AuditEntry } from "@accountlink/core/audit";
import { isChatId, isGameId } from "@accountlink/core/ids";
import type { KeyDetails } from "@accountlink/core/keys";
import { Profiles } from "@accountlink/core/platforms";
import { Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { type AccountNames, visibleName, webhookName } from "../look/names.ts";
import { makeOwnerName, type OwnerVisitor } from "../owner_pages.ts";
import type { Names } from "./sentences.ts";

/** The most accounts of each platform that a page shows by name, because looking up a name takes a request. */
const mostNames = 50;

const namesOf = <Id extends string>(
  ids: ReadonlyArray<Id>,
  profileOf: (id: Id) => Effect.Effect<{
    readonly displayName: string | null;
    readonly username: string | null;
  } | null>,
) =>
  Effect.forEach(
    [...new Set(ids)].slice(0, mostNames),
    (id) => Effect.map(profileOf(id), (profile) => [id, visibleName(profile)] as const),
    { concurrency: 8 },
  ).pipe(
    Effect.map(
      (names): ReadonlyMap<string, string> =>
        new Map(names.flatMap(([id, name]) => (name === null ? [] : [[id, name] as const]))),
    ),
  );

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
          chats: namesOf(idsIn(/chatId$/i).filter(isChatId), (id) => profiles.chat(id, null)),
          games: namesOf(idsIn(/gameId$/i).filter(isGameId), profiles.game),
        },
        { concurrency: 2 },
      );
    },
);

/** Returns a function that looks up the names of the signed-in user, and of the accounts and webhooks in entries. */
export const makeEntryNames = Effect.gen(function* () {
  const ownerName = yield* makeOwnerName;
  const namesIn = yield* makeAccountNames;
  const webhooks = yield* Webhooks;
  return Effect.fnUntraced(function* (
    { owner }: OwnerVisitor,
    keys: ReadonlyArray<KeyDetails>,
    entries: ReadonlyArray<AuditEntry>,
  ) {
    const people = entries.map(({ actor }) => ({
      chatId: actor.type === "account" ? actor.member : actor.id,
    }));
    const ofWebhooks = entries.some(({ action }) => action.startsWith("webhook."));
    const named = ofWebhooks ? yield* webhooks.list(owner.account.name) : [];
    const [name, accounts] = yield* Effect.all(
      [ownerName(owner), namesIn([...people, ...entries.map(({ details }) => details)])],
      { concurrency: 2 },
    );
    return {
      keys,
      me: { chatId: owner.chatId, name },
      ...accounts,
      webhooks: new Map(named.map((webhook) => [webhook.id, webhookName(webhook)])),
    } satisfies Names;
  });
});
