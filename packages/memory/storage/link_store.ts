import { type ChatId, type GameId, LinkStore } from "@accountlink/core";
import type { WriteContext } from "@accountlink/core/audit";
import { linkMoved, linkRemoved, newEvent, sourceOf } from "@accountlink/core/events";
import {
  fixtureSource,
  type GameUnlinked,
  type ImportBatch,
  importEffect,
  importedRecord,
  type LinkRecord,
  linkedRecord,
  type MoveChat,
  progressKeptFor,
  type RemoveGame,
  type ScopeDeleted,
} from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option } from "effect";
import { findLink, setGame } from "./set_game.ts";
import { layerOf, type Memory } from "./state/state.ts";
import { endVerifications } from "./verification_ends.ts";

const unlinked = (record: LinkRecord, at: Millis): LinkRecord => ({
  ...record,
  gameId: null,
  linkVersion: record.linkVersion + 1,
  linkedAt: at,
});

/** Finds a record by chat user in O(1), and by game user in O(chat users of the game user). */
export const layer = layerOf(LinkStore, (memory) => ({
  findByChatId: (pid, chatId) => Option.fromUndefinedOr(memory.links.get(pid)?.find(chatId)),

  findByChatIds: (pid, chatIds) => {
    const links = memory.links.get(pid);
    return collect(chatIds, (chatId) => links?.find(chatId));
  },

  findGamesByChatIds: (pid, chatIds) => {
    const links = memory.links.get(pid);
    return collect(chatIds, (chatId) => links?.find(chatId)?.gameId ?? undefined);
  },

  findByGameIds: (pid, gameIds) => {
    const links = memory.links.get(pid);
    return collect(gameIds, (gameId) => {
      const chatIds = links?.chatsOf(gameId) ?? [];
      return chatIds.length === 0 ? undefined : chatIds;
    });
  },

  setGame: (write) => setGame(memory, write),
  moveChat: (write) => moveChat(memory, write),
  removeGame: (write) => removeGame(memory, write),
  deleteScope: (write) => deleteScope(memory, write),
  importBatch: (batch) => importBatch(memory, batch),
  importPosition: (source) => memory.importProgress.get(source)?.position ?? 0,

  countLinks: (pid, { verified } = {}) => {
    const links = memory.links.get(pid);
    return (verified === undefined ? links?.links : links?.verifiedIn(verified)) ?? 0;
  },

  newestPage: (pid, place, limit, direction) => memory.links.get(pid)?.newest(place, limit, direction) ?? [],

  exportPage: (pid, after, limit) => memory.links.get(pid)?.linksAfter(after, limit) ?? [],
}));

const collect = <K, V>(keys: ReadonlyArray<K>, find: (key: K) => V | undefined): ReadonlyMap<K, V> => {
  const found = new Map<K, V>();
  for (const key of keys) {
    const value = find(key);
    if (value !== undefined) found.set(key, value);
  }
  return found;
};

const moveChat = (memory: Memory, write: MoveChat) => {
  const { pid, oldChatId, newChatId, at } = write;
  const links = memory.links.get(pid);
  const link = findLink(links?.find(oldChatId));
  if (links === undefined || link === undefined) return { _tag: "NoLink" } as const;

  const { gameId } = link;
  if (oldChatId === newChatId) return { _tag: "Unchanged", gameId } as const;

  const target = links.find(newChatId);
  if (findLink(target) !== undefined) return { _tag: "Occupied" } as const;

  memory.record({
    ...write,
    action: "link.moved",
    scope: links.scope,
    details: { chatId: oldChatId, newChatId, gameId },
  });
  links.put(unlinked(link, at));
  const moved = linkedRecord(newChatId, target, gameId, at);
  links.put(moved);
  memory.append(pid, newEvent(at, linkMoved(moved, oldChatId, sourceOf(write.actor))));
  return { _tag: "Moved", gameId } as const;
};

const removeGame = (memory: Memory, write: RemoveGame): Option.Option<GameUnlinked> => {
  const { pid, chatId, at } = write;
  const links = memory.links.get(pid);
  const link = findLink(links?.find(chatId));
  if (links === undefined || link === undefined) return Option.none();

  memory.record({
    ...write,
    action: "link.removed",
    scope: links.scope,
    details: { chatId, removedGameId: link.gameId },
  });
  const record = unlinked(link, at);
  links.put(record);
  const source = sourceOf(write.actor);
  memory.append(pid, newEvent(at, linkRemoved(chatId, link.gameId, record.linkVersion, source)));
  return Option.some({ gameId: link.gameId, ended: endVerifications(memory, pid, chatId, at) });
};

const deleteScope = (memory: Memory, write: WriteContext): ScopeDeleted => {
  const { pid, at } = write;
  const links = memory.linksOf(pid);
  const deletedRecords = links.size;
  memory.record({ ...write, action: "scope.deleted", scope: links.scope, details: { deletedRecords } });
  links.clear();
  memory.sightings.delete(pid);
  memory.reviews.delete(pid);
  const data = { deletedRecords, source: sourceOf(write.actor) };
  memory.append(pid, newEvent(at, { type: "scope.deleted", data }));
  return { records: deletedRecords, ended: endVerifications(memory, pid, null, at) };
};

const importBatch = (memory: Memory, batch: ImportBatch) => {
  const { pid, links: lines, existing, progress } = batch;
  const links = memory.linksOf(pid);
  const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
  const lastLines = new Map(lines.map((line) => [line.chatId, line]));
  const changed: Array<readonly [LinkRecord, ChatId, GameId]> = [];
  const records = Array.from(lastLines.values(), (line) => {
    const record = links.find(line.chatId);
    const next = importedRecord(record, line, existing);
    counts[importEffect(record, next, line)]++;
    if (record !== undefined && next.gameId !== record.gameId) {
      changed.push([record, line.chatId, line.gameId]);
    }
    return next;
  });
  if (progress !== null) assertStorable([progress.source]);
  changed.sort(([, one], [, other]) => (one < other ? -1 : 1));
  for (const [{ gameId: previousGameId }, chatId, gameId] of changed) {
    const details = { chatId, gameId, previousGameId, via: "import" };
    memory.record({ ...batch, action: "link.set", scope: links.scope, details });
  }
  if (counts.inserted + counts.replaced > 0) {
    memory.record({ ...batch, action: "links.imported", scope: links.scope, details: counts });
  }
  if (progress !== null) saveProgress(memory, progress, batch.at);
  for (const record of records) links.put(record);
  const count = counts.inserted + counts.replaced;
  if (count > 0) {
    const data = { count, source: sourceOf(batch.actor) };
    memory.append(pid, newEvent(batch.at, { type: "links.imported", data }));
  }
  return counts;
};

const saveProgress = (
  { importProgress }: Memory,
  { source, position }: NonNullable<ImportBatch["progress"]>,
  at: Millis,
): void => {
  importProgress.set(source, { position, savedAt: at });
  for (const [name, { savedAt }] of importProgress) {
    if (savedAt < at - progressKeptFor && !name.startsWith(fixtureSource)) importProgress.delete(name);
  }
};
