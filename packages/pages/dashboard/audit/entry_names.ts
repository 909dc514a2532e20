/** Names for the sentences about audit log entries. */
import type { AuditEntry } from "@accountlink/core/audit";
import { type ChatId, isChatId } from "@accountlink/core/ids";
import type { KeyDetails } from "@accountlink/core/keys";
import { Profiles } from "@accountlink/core/platforms";
import { Effect } from "effect";
import { makeOwnerName, type OwnerVisitor } from "../owner_pages.ts";
import type { Names } from "./sentences.ts";

/** Returns a function that looks up names of chat users on the platform. Users without a name are left out. */
export const makeChatNames = Effect.map(Profiles, (profiles) =>
  Effect.fnUntraced(function* (chatIds: ReadonlyArray<ChatId>) {
    const found = yield* profiles.chats(chatIds, null);
    return new Map(
      chatIds.flatMap((id, i) => {
        const name = found[i]?.displayName ?? found[i]?.username;
        return name === undefined || name === null ? [] : [[id, name] as const];
      }),
    );
  }),
);

/** Returns a function that names the signed-in user, the keys, and the members who made the entries. */
export const makeEntryNames = Effect.gen(function* () {
  const ownerName = yield* makeOwnerName;
  const chatNames = yield* makeChatNames;
  return Effect.fnUntraced(function* (
    { owner }: OwnerVisitor,
    keys: ReadonlyArray<KeyDetails>,
    entries: ReadonlyArray<AuditEntry>,
  ) {
    const members = entries.flatMap(({ actor }) =>
      actor.type === "account" && isChatId(actor.member) ? [actor.member] : [],
    );
    const me = { chatId: owner.chatId, name: yield* ownerName(owner) };
    return { keys, me, chats: yield* chatNames([...new Set(members)]) } satisfies Names;
  });
});
