/** `UserStore` in memory. */
import type { ChatId } from "@accountlink/core";
import { type ScopedRecord, UserStore } from "@accountlink/core/users";
import { Effect, Layer } from "effect";
import { type Memory, State } from "../state.ts";
import { eraseUser } from "./erase_user.ts";
import { entriesOf } from "./user_entries.ts";

/** Scans scopes, unfinished sessions and flows, and the whole log. */
export const layer: Layer.Layer<UserStore, never, State> = Layer.effect(
  UserStore,
  Effect.map(State, (memory) =>
    UserStore.of({
      find: (chatId) => Effect.sync(() => find(memory, chatId)),
      findRecords: (chatId) => Effect.sync(() => recordsOf(memory, chatId)),
      erase: (write) => Effect.sync(() => eraseUser(memory, write)),
    }),
  ),
);

const find = (memory: Memory, chatId: ChatId) => {
  const accounts = [...memory.accounts.values()]
    .filter((account) => account.chatId === chatId)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return {
    accounts,
    records: recordsOf(memory, chatId),
    sightings: [...memory.sightings]
      .flatMap(([pid, sightings]) => sightings.of(chatId).map((sighting) => ({ pid, sighting })))
      .toSorted(
        (one, other) =>
          one.sighting.seenAt - other.sighting.seenAt ||
          compareTexts(one.pid, other.pid) ||
          compareTexts(one.sighting.address.hash, other.sighting.address.hash),
      ),
    reviews: [...memory.reviews]
      .toSorted(([one], [other]) => compareTexts(one, other))
      .flatMap(([pid, reviews]) => reviews.of(chatId).map((review) => ({ pid, review }))),
    sessions: memory.sessions
      .filter((session) => session.chatId === chatId)
      .toSorted((one, other) => one.createdAt - other.createdAt || compareTexts(one.id, other.id)),
    flows: [...memory.flows.values()]
      .filter((flow) => flow.chatId === chatId)
      .toSorted((one, other) => one.expiresAt - other.expiresAt || compareTexts(one.id, other.id)),
    signIns: [...memory.signIns.values()]
      .filter((signIn) => signIn.chatId === chatId)
      .toSorted((one, other) => one.createdAt - other.createdAt || compareTexts(one.id, other.id)),
    entries: entriesOf(
      memory,
      chatId,
      accounts.map(({ name }) => name),
    ),
  };
};

const recordsOf = (memory: Memory, chatId: ChatId) => {
  const records: Array<ScopedRecord> = [];
  for (const links of memory.links.values()) {
    const record = links.find(chatId);
    if (record !== undefined) records.push({ scope: links.scope, record });
  }
  return records.toSorted((one, other) => compareTexts(one.scope.pid, other.scope.pid));
};

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one === other ? 0 : 1);
