import type { ChatId } from "@accountlink/core";
import { isAtAddress, isInBrowser } from "@accountlink/core/addresses";
import { inOrder, UserStore } from "@accountlink/core/users";
import { Effect, Order } from "effect";
import { reviewsOf } from "./alt_review_store.ts";
import { entriesOf, eraseUser, sightingsOf } from "./erase_user.ts";
import { membershipsOf } from "./member_store.ts";
import { rolesOf } from "./role_plan_store.ts";
import { layerOf } from "./state.ts";

/** Finds the data of a user without an index: reads all scopes, sessions and flows, and the whole audit log. */
export const layer = layerOf(UserStore, (memory) => {
  const findRecords = (chatId: ChatId) =>
    [...memory.links.values()]
      .flatMap((links) => {
        const record = links.find(chatId);
        return record === undefined ? [] : [{ scope: links.scope, record }];
      })
      .toSorted(Order.mapInput(Order.String, ({ scope }) => scope.pid));

  const find = (chatId: ChatId) => {
    const accounts = [...memory.accounts.values()].filter((account) => account.chatId === chatId);
    const names = accounts.map(({ name }) => name);
    const seen = sightingsOf(memory, chatId).map(([, stored]) => stored);
    return inOrder({
      accounts,
      memberships: membershipsOf(memory, chatId),
      records: findRecords(chatId),
      sightings: seen.flatMap(({ pid, sighting }) => (isAtAddress(sighting) ? [{ pid, sighting }] : [])),
      browsers: seen.flatMap(({ sighting, ...rest }) =>
        isInBrowser(sighting) ? [{ ...rest, sighting }] : [],
      ),
      reviews: reviewsOf(memory, chatId),
      roles: rolesOf(memory, chatId),
      sessions: Array.from(memory.sessions.values(), ({ session }) => session).filter(
        (session) => session.chatId === chatId,
      ),
      flows: [...memory.flows.values()].filter((flow) => flow.chatId === chatId),
      signIns: [...memory.signIns.values()].filter((signIn) => signIn.chatId === chatId),
      entries: entriesOf(memory, chatId, names),
    });
  };

  return {
    find,
    findRecords,
    findSightings: find,
    forget: (chatId, places) => {
      const isForgotten = places === "browsers" ? isInBrowser : isAtAddress;
      const forgotten = sightingsOf(memory, chatId).filter(([, { sighting }]) => isForgotten(sighting));
      for (const [name] of forgotten) memory.sightings.delete(name);
      return forgotten.length;
    },
    erase: (write) => memory.committing.withPermits(1)(Effect.sync(() => eraseUser(memory, write))),
  };
});
