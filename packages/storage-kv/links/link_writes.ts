/** The writes of `LinkStore` to one or two chat users, and to a whole scope. */
import type { Link } from "@accountlink/core";
import type { WriteContext } from "@accountlink/core/audit";
import {
  type EventSource,
  linkMoved,
  linkRemoved,
  linkSet,
  newEvent,
  sourceOf,
} from "@accountlink/core/events";
import {
  type GameUnlinked,
  isLinked,
  type LinkRecord,
  linkedRecord,
  type MoveChat,
  type RemoveGame,
  type SetGame,
  unlinkedRecord,
} from "@accountlink/core/links";
import { Effect, Option } from "effect";
import { removeSighting } from "../alts/sightings.ts";
import { recordChange } from "../audit/record_change.ts";
import { appendEvents } from "../events/append_events.ts";
import { endVerifications } from "../flow/verification_ends.ts";
import { requireScope } from "../keys/accounts.ts";
import { links, reviewId, reviews, scopes, sightings } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { putLink, removeLink } from "./link_records.ts";

const linkOf = (found: { readonly record: LinkRecord } | undefined): Link | undefined =>
  found !== undefined && isLinked(found.record) ? found.record : undefined;

export const setGame = Effect.fnUntraced(function* (
  tx: Transaction,
  write: SetGame,
  source: EventSource = sourceOf(write.actor),
) {
  const { pid, chatId, gameId, at } = write;
  const scope = yield* requireScope(tx, pid);
  const found = yield* links.find(tx, pid, chatId);
  const link = linkOf(found);
  const previousGameId = link?.gameId ?? null;
  if (link?.gameId === gameId) {
    const record = { ...link, lastVerifiedAt: at };
    yield* putLink(tx, pid, record);
    return { record, previousGameId };
  }
  const record = linkedRecord(chatId, found?.record, gameId, at);
  const details = { chatId, gameId, previousGameId };
  yield* recordChange(tx, { ...write, action: "link.set", of: scope, details });
  yield* putLink(tx, pid, record);
  yield* appendEvents(tx, pid, [newEvent(at, linkSet(record, previousGameId, source))]);
  return { record, previousGameId };
});

export const moveChat = Effect.fnUntraced(function* (tx: Transaction, write: MoveChat) {
  const { pid, oldChatId, newChatId, at } = write;
  const scope = yield* scopes.find(tx, pid);
  const link = linkOf(yield* links.find(tx, pid, oldChatId));
  if (scope === undefined || link === undefined) return { _tag: "NoLink" } as const;

  const { gameId } = link;
  if (oldChatId === newChatId) return { _tag: "Unchanged", gameId } as const;

  const target = yield* links.find(tx, pid, newChatId);
  if (linkOf(target) !== undefined) return { _tag: "Occupied" } as const;

  const details = { chatId: oldChatId, newChatId, gameId };
  yield* recordChange(tx, { ...write, action: "link.moved", of: scope, details });
  yield* putLink(tx, pid, unlinkedRecord(link, at));
  const record = linkedRecord(newChatId, target?.record, gameId, at);
  yield* putLink(tx, pid, record);
  yield* appendEvents(tx, pid, [newEvent(at, linkMoved(record, oldChatId, sourceOf(write.actor)))]);
  return { _tag: "Moved", gameId } as const;
});

export const removeGame = Effect.fnUntraced(function* (tx: Transaction, write: RemoveGame) {
  const { pid, chatId, at } = write;
  const scope = yield* scopes.find(tx, pid);
  const link = linkOf(yield* links.find(tx, pid, chatId));
  if (scope === undefined || link === undefined) return Option.none<GameUnlinked>();

  const details = { chatId, removedGameId: link.gameId };
  yield* recordChange(tx, { ...write, action: "link.removed", of: scope, details });
  const record = unlinkedRecord(link, at);
  yield* putLink(tx, pid, record);
  const removed = linkRemoved(chatId, link.gameId, record.linkVersion, sourceOf(write.actor));
  yield* appendEvents(tx, pid, [newEvent(at, removed)]);
  return Option.some({ gameId: link.gameId, ended: yield* endVerifications(tx, pid, chatId, at) });
});

export const deleteScope = Effect.fnUntraced(function* (tx: Transaction, write: WriteContext) {
  const { pid, at } = write;
  const scope = yield* requireScope(tx, pid);
  const records = yield* links.scan(tx, [pid]);
  for (const { record } of records) yield* removeLink(tx, pid, record);
  for (const { sighting } of yield* sightings.scan(tx, [pid])) yield* removeSighting(tx, pid, sighting);
  for (const { review } of yield* reviews.scan(tx, [pid]))
    yield* reviews.remove(tx, ...reviewId(pid, review));
  const details = { deletedRecords: records.length };
  yield* recordChange(tx, { ...write, action: "scope.deleted", of: scope, details });
  const data = { ...details, source: sourceOf(write.actor) };
  yield* appendEvents(tx, pid, [newEvent(at, { type: "scope.deleted", data })]);
  return { records: records.length, ended: yield* endVerifications(tx, pid, null, at) };
});
