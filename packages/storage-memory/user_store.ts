/** All that is kept about one chat user, in memory. */
import { type ChatId, type DataScope, type LinkRecord, UserStore } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { eraseUser } from "./internal/erase_user.ts";
import { type Memory, State } from "./internal/state.ts";
import { entriesOf } from "./internal/user_entries.ts";

/** Finds and erases by scans: of scopes, of what is under way, and of the whole log. */
export const layer: Layer.Layer<UserStore, never, State> = Layer.effect(
  UserStore,
  Effect.map(State, (memory) =>
    UserStore.of({
      find: (chatId) => Effect.sync(() => find(memory, chatId)),
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
      .flatMap(([pid, sightings]) => Array.from(sightings.values(), (sighting) => ({ pid, sighting })))
      .filter(({ sighting }) => sighting.chatId === chatId)
      .toSorted(
        (one, other) =>
          one.sighting.seenAt - other.sighting.seenAt ||
          compareTexts(one.pid, other.pid) ||
          compareTexts(one.sighting.address.hash, other.sighting.address.hash),
      ),
    sessions: memory.sessions
      .filter((session) => session.chatId === chatId)
      .toSorted((one, other) => one.createdAt - other.createdAt || compareTexts(one.id, other.id)),
    flows: [...memory.flows.values()]
      .filter((flow) => flow.chatId === chatId)
      .toSorted((one, other) => one.expiresAt - other.expiresAt || compareTexts(one.id, other.id)),
    entries: entriesOf(
      memory,
      chatId,
      accounts.map(({ name }) => name),
    ),
  };
};

const recordsOf = (memory: Memory, chatId: ChatId) => {
  const records: Array<{ readonly scope: DataScope; readonly record: LinkRecord }> = [];
  for (const links of memory.links.values()) {
    const record = links.find(chatId);
    if (record !== undefined) records.push({ scope: links.scope, record });
  }
  return records.toSorted((one, other) => compareTexts(one.scope.pid, other.scope.pid));
};

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one === other ? 0 : 1);
