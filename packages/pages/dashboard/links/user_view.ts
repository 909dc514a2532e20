import { AuditLog, type ChatId, OwnedKeys } from "@accountlink/core";
import { readableActions } from "@accountlink/core/accounts";
import type { NamedLink } from "@accountlink/core/communities";
import { Profiles } from "@accountlink/core/platforms";
import { Effect } from "effect";
import { makeEntryNames } from "../audit/entry_names.ts";
import type { Community } from "../communities/community.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { makeUserLists } from "./user_lists.ts";

const shownChanges = 50;

/** Returns a function that collects the data for the page of a chat user. */
export const makeUserView = Effect.gen(function* () {
  const listsOf = yield* makeUserLists;
  const profiles = yield* Profiles;
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const namesOf = yield* makeEntryNames;

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, community: Community, chatId: ChatId) {
    const { account } = visitor.owner;
    const { pid } = community.scope;
    const filter = { action: null, keyId: null, chatId, pid, readable: readableActions(visitor.role) };
    const [lists, history, listed, chat] = yield* Effect.all(
      [
        listsOf(visitor, chatId),
        log.list(account.name, null, shownChanges, filter),
        keys.list(account),
        profiles.chat(chatId, null),
      ],
      { concurrency: 4 },
    );
    const own = lists.find((list) => list.community.scope.pid === pid)?.link;
    const link: NamedLink | null = own === undefined ? null : { ...own, chat };
    const names = yield* namesOf(visitor, listed, history);
    return { community, chatId, chat, link, lists, history, names };
  });
});
