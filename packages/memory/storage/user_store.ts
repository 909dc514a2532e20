import type { ChatId } from "@accountlink/core";
import { isAtAddress, isInBrowser, placeOf } from "@accountlink/core/addresses";
import { placeOrder } from "@accountlink/core/roles";
import { UserStore } from "@accountlink/core/users";
import { Array as Arr, Effect } from "effect";
import { reviewsOf } from "./alt_review_store.ts";
import { entriesOf, eraseUser, sightingsOf } from "./erase_user.ts";
import { messagesOf } from "./guild_log_store.ts";
import { membershipsOf } from "./member_store.ts";
import { layerOf } from "./state.ts";
import { forgetSuspects } from "./suspect_store.ts";
import { rolesOf } from "./user_roles.ts";

/** Finds the data of a user without an index: reads all scopes, sessions and flows, and the whole audit log. */
export const layer = layerOf(UserStore, (memory) => {
  const findRecords = (chatId: ChatId) =>
    [...memory.links.values()]
      .flatMap((links) => {
        const record = links.find(chatId);
        return record === undefined ? [] : [{ scope: links.scope, record }];
      })
      .toSorted(by(({ scope }) => [scope.pid]));

  const find = (chatId: ChatId) => {
    const isOwn = (record: { readonly chatId: ChatId | null }) => record.chatId === chatId;
    const accounts = [...memory.accounts.values()].filter(isOwn).toSorted(by(({ name }) => [name]));
    const names = accounts.map(({ name }) => name);
    const seen = sightingsOf(memory, chatId)
      .map(([, stored]) => stored)
      .toSorted(by(({ pid, sighting }) => [sighting.seenAt, pid, placeOf(sighting)]));
    return {
      accounts,
      memberships: membershipsOf(memory, chatId),
      records: findRecords(chatId),
      sightings: seen.flatMap(({ pid, sighting }) => (isAtAddress(sighting) ? [{ pid, sighting }] : [])),
      browsers: seen.flatMap(({ sighting, ...rest }) =>
        isInBrowser(sighting) ? [{ ...rest, sighting }] : [],
      ),
      reviews: reviewsOf(memory, chatId).toSorted(
        by(({ pid, review }) => [pid, -review.at, review.otherChatId]),
      ),
      roles: rolesOf(memory, chatId).toSorted(placeOrder),
      messages: [...messagesOf(memory, chatId)].toSorted(placeOrder),
      sessions: Array.from(memory.sessions.values(), ({ session }) => session)
        .filter(isOwn)
        .toSorted(by(({ createdAt, id }) => [createdAt, id])),
      flows: [...memory.flows.values()].filter(isOwn).toSorted(by(({ expiresAt, id }) => [expiresAt, id])),
      signIns: [...memory.signIns.values()]
        .filter(isOwn)
        .toSorted(by(({ createdAt, id }) => [createdAt, id])),
      entries: entriesOf(memory, chatId, names),
    };
  };

  return {
    find,
    findRecords,
    findSightings: find,
    forget: (chatId, places) => {
      const isForgotten = places === "browsers" ? isInBrowser : isAtAddress;
      const forgotten = sightingsOf(memory, chatId).filter(([, { sighting }]) => isForgotten(sighting));
      for (const [name] of forgotten) memory.sightings.delete(name);
      forgetSuspects(memory, chatId);
      return forgotten.length;
    },
    erase: (write) => memory.committing.withPermits(1)(Effect.sync(() => eraseUser(memory, write))),
  };
});

/** Compares values by the first of their keys that differs. */
const by =
  <A>(keysOf: (value: A) => ReadonlyArray<string | number>) =>
  (one: A, other: A): number => {
    const pairs = Arr.zip(keysOf(one), keysOf(other));
    const [mine = 0, theirs = 0] = pairs.find(([key, another]) => key !== another) ?? [];
    return mine < theirs ? -1 : Number(mine > theirs);
  };
