/** Names for the sentences about audit log entries and events. */
import type { AuditEntry } from "@accountlink/core/audit";
import { type ChatId, type GameId, isChatId, isGameId } from "@accountlink/core/ids";
import type { KeyDetails } from "@accountlink/core/keys";
import { Profiles } from "@accountlink/core/platforms";
import { Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { visibleName, webhookName } from "../look/account_name.ts";
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

/** Returns functions that look up names of accounts on the platforms. Accounts without a name are left out. */
export const makeAccountNames = Effect.map(Profiles, (profiles) => ({
  chatNames: (ids: ReadonlyArray<ChatId>) => namesOf(ids, (id) => profiles.chat(id, null)),
  gameNames: (ids: ReadonlyArray<GameId>) => namesOf(ids, profiles.game),
}));

/** Returns a function that looks up the names of the signed-in user, and of the accounts and webhooks in entries. */
export const makeEntryNames = Effect.gen(function* () {
  const ownerName = yield* makeOwnerName;
  const { chatNames, gameNames } = yield* makeAccountNames;
  const webhooks = yield* Webhooks;
  return Effect.fnUntraced(function* (
    { owner }: OwnerVisitor,
    keys: ReadonlyArray<KeyDetails>,
    entries: ReadonlyArray<AuditEntry>,
  ) {
    const of = (...names: ReadonlyArray<string>) =>
      entries.flatMap(({ details }) => names.map((name) => details[name]));
    const people = entries.map(({ actor }) => (actor.type === "account" ? actor.member : actor.id));
    const ofWebhooks = entries.some(({ action }) => action.startsWith("webhook."));
    const named = ofWebhooks ? yield* webhooks.list(owner.account.name) : [];
    const [name, chats, games] = yield* Effect.all(
      [
        ownerName(owner),
        chatNames([...people, ...of("chatId", "newChatId", "otherChatId")].filter(isChatId)),
        gameNames(of("gameId", "previousGameId", "removedGameId").filter(isGameId)),
      ],
      { concurrency: 3 },
    );
    return {
      keys,
      me: { chatId: owner.chatId, name },
      chats,
      games,
      webhooks: new Map(named.map((webhook) => [webhook.id, webhookName(webhook)])),
    } satisfies Names;
  });
});
