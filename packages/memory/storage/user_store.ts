import type { ChatId } from "@accountlink/core";
import { isAtAddress } from "@accountlink/core/addresses";
import { inOrder, type ScopedRecord, UserStore } from "@accountlink/core/users";
import { Effect } from "effect";
import { entriesOf, eraseUser } from "./erase_user.ts";
import { membershipsOf } from "./member_store.ts";
import { rolesOf } from "./role_plan_store.ts";
import { layerOf, type Memory } from "./state/state.ts";

/** Finds the data of a user without an index: reads all scopes, sessions and flows, and the whole audit log. */
export const layer = layerOf(UserStore, (memory) => ({
  find: (chatId) => find(memory, chatId),
  findRecords: (chatId) => recordsOf(memory, chatId),
  findSightings: (chatId) => find(memory, chatId),
  forget: (chatId, places) =>
    [...memory.sightings.values()].reduce(
      (forgotten, sightings) => forgotten + sightings.forget(chatId, places),
      0,
    ),
  erase: (write) => memory.committing.withPermits(1)(Effect.sync(() => eraseUser(memory, write))),
}));

const find = (memory: Memory, chatId: ChatId) => {
  const accounts = [...memory.accounts.values()].filter((account) => account.chatId === chatId);
  const names = accounts.map(({ name }) => name);
  return inOrder({
    accounts,
    memberships: membershipsOf(memory, chatId),
    records: recordsOf(memory, chatId),
    sightings: [...memory.sightings].flatMap(([pid, sightings]) =>
      sightings
        .of(chatId)
        .filter(isAtAddress)
        .map((sighting) => ({ pid, sighting })),
    ),
    browsers: [...memory.sightings].flatMap(([pid, sightings]) =>
      sightings.browsersOf(chatId).map((browser) => ({ pid, ...browser })),
    ),
    reviews: [...memory.reviews].flatMap(([pid, reviews]) =>
      reviews.of(chatId).map((review) => ({ pid, review })),
    ),
    roles: rolesOf(memory, chatId),
    sessions: memory.sessions.filter((session) => session.chatId === chatId),
    flows: [...memory.flows.values()].filter((flow) => flow.chatId === chatId),
    signIns: [...memory.signIns.values()].filter((signIn) => signIn.chatId === chatId),
    entries: entriesOf(memory, chatId, names),
  });
};

const recordsOf = (memory: Memory, chatId: ChatId) => {
  const records: Array<ScopedRecord> = [];
  for (const links of memory.links.values()) {
    const record = links.find(chatId);
    if (record !== undefined) records.push({ scope: links.scope, record });
  }
  return records.toSorted((one, other) => (one.scope.pid < other.scope.pid ? -1 : 1));
};
