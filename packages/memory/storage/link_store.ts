import { LinkStore } from "@accountlink/core";
import { withReason } from "@accountlink/core/audit";
import { linkMoved, linkRemoved, linkSet, newEvent, sourceOf } from "@accountlink/core/events";
import {
  type BatchImported,
  type ChatMoved,
  type DeleteScope,
  fixtureSource,
  type GameProof,
  type GameSet,
  type GameUnlinked,
  type ImportBatch,
  importEffect,
  importedRecord,
  isLinked,
  type Link,
  type LinkRecord,
  linkedRecord,
  type MoveChat,
  maxChatsOfGame,
  newestOf,
  progressKeptFor,
  type RemoveGame,
  type SetGame,
} from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option, Order } from "effect";
import { isBlocked, refuseBlocked } from "./blocked_links.ts";
import { endVerifications } from "./flow_store.ts";
import { logBatch } from "./link_imports.ts";
import { keyedWrite, layerOf, type Memory } from "./state.ts";

/** Finds a record by chat user in O(1), and by game user in O(chat users of the game user). */
export const layer = layerOf(LinkStore, (memory) => ({
  findByChatId: (pid, chatId) => Option.fromUndefinedOr(memory.links.get(pid)?.find(chatId)),

  findByChatIds: (pid, chatIds) => collect(chatIds, (chatId) => memory.links.get(pid)?.find(chatId)),

  findGamesByChatIds: (pid, chatIds) =>
    collect(chatIds, (chatId) => memory.links.get(pid)?.find(chatId)?.gameId ?? undefined),

  findByGameIds: (pid, gameIds) =>
    collect(gameIds, (gameId) => {
      const links = memory.links.get(pid)?.linksTo(gameId) ?? [];
      const chatIds = links.toSorted(lastLinkedFirst).map(({ chatId }) => chatId);
      return chatIds.length === 0 ? undefined : chatIds.slice(0, maxChatsOfGame);
    }),

  setGame: keyedWrite(memory, (write: SetGame) => setGame(memory, write)),

  moveChat: keyedWrite(memory, (write: MoveChat): ChatMoved => {
    const { pid, oldChatId, newChatId, at } = write;
    const links = memory.links.get(pid);
    const link = linkOf(links?.find(oldChatId));
    if (links === undefined || link === undefined) return { _tag: "NoLink" };
    const { gameId } = link;
    if (oldChatId === newChatId) return { _tag: "Unchanged", gameId };
    const target = links.find(newChatId);
    if (linkOf(target) !== undefined) return { _tag: "Occupied" };
    refuseBlocked(memory, pid, { chatId: newChatId, gameId, chatHash: write.chatHash });
    memory.record({ ...write, action: "link.moved", details: { chatId: oldChatId, newChatId, gameId } });
    const moved = linkedRecord(newChatId, target, gameId, at, "hand");
    links.put(unlinked(link, at));
    links.put(moved);
    memory.append(pid, newEvent(at, linkMoved(moved, oldChatId, sourceOf(write.actor))));
    return { _tag: "Moved", gameId };
  }),

  removeGame: keyedWrite(memory, (write: RemoveGame) => Option.fromNullishOr(removeLink(memory, write))),

  deleteScope: keyedWrite(memory, (write: DeleteScope) => {
    const { pid, at } = write;
    const links = memory.linksOf(pid);
    const deletedRecords = links.size;
    memory.record({ ...write, action: "scope.deleted", details: { deletedRecords } });
    links.clear();
    for (const [name, sighting] of memory.sightings) if (sighting.pid === pid) memory.sightings.delete(name);
    for (const [name, review] of memory.reviews) if (review.pid === pid) memory.reviews.delete(name);
    for (const [name, stored] of memory.suspects) if (stored.pid === pid) memory.suspects.delete(name);
    memory.blocks.delete(pid);
    for (const [account, one] of memory.imports) {
      if (one.pid === pid && one.phase === "running") memory.imports.delete(account);
    }
    for (const [id, one] of memory.linkImports) if (one.pid === pid) memory.linkImports.delete(id);
    const data = { deletedRecords, source: sourceOf(write.actor) };
    memory.append(pid, newEvent(at, { type: "scope.deleted", data }));
    return { records: deletedRecords, ended: endVerifications(memory, pid, null, at) };
  }),

  importBatch: (batch) => importBatch(memory, batch),

  importPosition: (source) => memory.importProgress.get(source)?.position ?? 0,

  countLinks: (pid, { verified } = {}) => {
    const links = memory.links.get(pid)?.links ?? [];
    if (verified === undefined) return links.length;
    const { from, before } = verified;
    return links.filter(({ lastVerifiedAt: at, proof }) => at >= from && at < before && proof !== "import")
      .length;
  },

  newestPage: (pid, ...page) => newestOf(memory.links.get(pid)?.links ?? [], ...page),

  exportPage: (pid, after, limit) => memory.links.get(pid)?.linksAfter(after, limit) ?? [],
}));

export const importBatch = (memory: Memory, batch: ImportBatch): BatchImported => {
  const { pid, progress, at } = batch;
  const links = memory.linksOf(pid);
  const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
  const lines = new Map(batch.links.map((line) => [line.chatId, line]));
  const admitted = [...lines.values()].filter((line) => !isBlocked(memory, pid, line));
  counts.kept += lines.size - admitted.length;
  const changes = admitted.map((line) => {
    const record = links.find(line.chatId);
    const next = importedRecord(record, line, batch);
    counts[importEffect(record, next, line)]++;
    return { record, next };
  });
  if (progress !== null) assertStorable([progress.source]);
  for (const { record, next } of changes.toSorted(byChatId)) {
    if (record === undefined || next.gameId === record.gameId) continue;
    const { chatId, gameId } = next;
    const details = { chatId, gameId, previousGameId: record.gameId, via: "import" };
    memory.record({ ...batch, action: "link.set", details });
  }
  const count = counts.inserted + counts.replaced;
  logBatch(memory, batch, counts, changes);
  if (count > 0) {
    const data = { count, source: sourceOf(batch.actor) };
    memory.append(pid, newEvent(at, { type: "links.imported", data }));
  }
  for (const { next } of changes) links.put(next);
  if (progress === null) return counts;
  memory.importProgress.set(progress.source, { position: progress.position, savedAt: at });
  for (const [source, { savedAt }] of memory.importProgress) {
    const isOld = savedAt < at - progressKeptFor && !source.startsWith(fixtureSource);
    if (isOld) memory.importProgress.delete(source);
  }
  return counts;
};

const collect = <K, V>(keys: ReadonlyArray<K>, find: (key: K) => V | undefined): ReadonlyMap<K, V> => {
  const found = new Map<K, V>();
  for (const key of keys) {
    const value = find(key);
    if (value !== undefined) found.set(key, value);
  }
  return found;
};

const lastLinkedFirst = (one: Link, other: Link): number =>
  other.linkedAt - one.linkedAt || Order.String(one.chatId, other.chatId);

const byChatId = Order.mapInput(Order.String, ({ next }: { readonly next: LinkRecord }) => next.chatId);

const linkOf = (record: LinkRecord | undefined): Link | undefined =>
  record !== undefined && isLinked(record) ? record : undefined;

const unlinked = (record: LinkRecord, at: Millis): LinkRecord => ({
  ...record,
  gameId: null,
  linkVersion: record.linkVersion + 1,
  linkedAt: at,
});

/** Removes a link. Returns null if there was none. */
export const removeLink = (memory: Memory, write: RemoveGame): GameUnlinked | null => {
  const { pid, chatId, at } = write;
  const links = memory.links.get(pid);
  const link = linkOf(links?.find(chatId));
  if (links === undefined || link === undefined) return null;
  const { gameId } = link;
  memory.record({
    ...write,
    action: "link.removed",
    details: withReason({ chatId, removedGameId: gameId }, write),
  });
  const record = unlinked(link, at);
  links.put(record);
  const source = sourceOf(write.actor);
  memory.append(pid, newEvent(at, linkRemoved(chatId, gameId, record.linkVersion, source)));
  return { gameId, ended: endVerifications(memory, pid, chatId, at) };
};

/** @param proof the proof that confirms the link; undefined for a link that is set by hand */
export const setGame = (memory: Memory, write: SetGame, proof?: GameProof): GameSet => {
  const { pid, chatId, gameId, at } = write;
  const source = proof === undefined ? sourceOf(write.actor) : "flow";
  const links = memory.linksOf(pid);
  refuseBlocked(memory, pid, write);
  const previous = links.find(chatId);
  const link = linkOf(previous);
  const previousGameId = link?.gameId ?? null;
  if (link?.gameId === gameId) {
    const record: Link = { ...link, lastVerifiedAt: at, proof: proof ?? "hand" };
    links.put(record);
    return { record, previousGameId };
  }
  const record = linkedRecord(chatId, previous, gameId, at, proof ?? "hand");
  memory.record({
    ...write,
    action: "link.set",
    details: withReason({ chatId, gameId, previousGameId, ...(proof && { proof }) }, write),
  });
  links.put(record);
  memory.append(pid, newEvent(at, linkSet(record, previousGameId, source)));
  return { record, previousGameId };
};
