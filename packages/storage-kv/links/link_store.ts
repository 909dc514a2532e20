import { type ChatId, type GameId, type Link, LinkStore, type Pid } from "@accountlink/core";
import { type DayRange, isLinked } from "@accountlink/core/links";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { Database } from "../records/database.ts";
import { importProgress, linkCounts, links } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { importBatch } from "./link_import.ts";
import { deleteScope, moveChat, removeGame, setGame } from "./link_writes.ts";

export const layer: Layer.Layer<LinkStore, never, Database> = Layer.effect(
  LinkStore,
  Effect.map(Database, (db) =>
    LinkStore.of({
      findByChatId: (pid, chatId) =>
        db.find("LinkStore.findByChatId", (tx) =>
          Effect.map(links.find(tx, pid, chatId), (found) => Option.fromUndefinedOr(found?.record)),
        ),
      findByChatIds: (pid, chatIds) =>
        db.read("LinkStore.findByChatIds", (tx) =>
          Effect.map(
            recordsOf(tx, pid, chatIds),
            (records) => new Map(records.map((record) => [record.chatId, record])),
          ),
        ),
      findGamesByChatIds: (pid, chatIds) =>
        db.read("LinkStore.findGamesByChatIds", (tx) =>
          Effect.map(
            recordsOf(tx, pid, chatIds),
            (records) => new Map(records.filter(isLinked).map(({ chatId, gameId }) => [chatId, gameId])),
          ),
        ),
      findByGameIds: (pid, gameIds) =>
        db.read("LinkStore.findByGameIds", (tx) => findByGameIds(tx, pid, gameIds)),
      setGame: (write) => db.write("LinkStore.setGame", (tx) => setGame(tx, write)),
      moveChat: (write) => db.write("LinkStore.moveChat", (tx) => moveChat(tx, write)),
      removeGame: (write) => db.write("LinkStore.removeGame", (tx) => removeGame(tx, write)),
      deleteScope: (write) => db.write("LinkStore.deleteScope", (tx) => deleteScope(tx, write)),
      importBatch: (batch) => db.write("LinkStore.importBatch", (tx) => importBatch(tx, batch)),
      importPosition: (source) =>
        db.find("LinkStore.importPosition", (tx) =>
          Effect.map(importProgress.find(tx, source), (progress) => progress?.position ?? 0),
        ),
      countLinks: (pid, { verified } = {}) =>
        verified === undefined
          ? db.find("LinkStore.countLinks", (tx) =>
              Effect.map(linkCounts.find(tx, pid, "all"), (found) => found?.links ?? 0),
            )
          : db.read("LinkStore.countLinks", (tx) => countVerified(tx, pid, verified)),
      newestPage: (pid, after, limit) =>
        db.read("LinkStore.newestPage", (tx) =>
          Effect.map(
            links.list(tx, "verified", [pid], {
              limit,
              ...(after === null ? {} : { after: [pid, -after.lastVerifiedAt, pid, after.chatId] }),
            }),
            (found) => found.map(({ record }) => record).filter(isLinked),
          ),
        ),
      exportPage: (pid, after, limit) =>
        db.read("LinkStore.exportPage", (tx) => exportPage(tx, pid, after, limit)),
    }),
  ),
);

const recordsOf = (tx: Transaction, pid: Pid, chatIds: ReadonlyArray<ChatId>) =>
  Effect.map(
    links.findAll(
      tx,
      chatIds.map((chatId) => [pid, chatId]),
    ),
    (found) => found.map(({ record }) => record),
  );

const countVerified = (tx: Transaction, pid: Pid, { from, before }: DayRange) => {
  const days = Array.from({ length: (before - from) / dayMs }, (_, index) => from + index * dayMs);
  return Effect.map(
    linkCounts.findAll(
      tx,
      days.map((day) => [pid, day]),
    ),
    (counts) => counts.reduce((sum, count) => sum + count.links, 0),
  );
};

const findByGameIds = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  gameIds: ReadonlyArray<GameId>,
) {
  const found = new Map<GameId, ReadonlyArray<ChatId>>();
  for (const gameId of gameIds) {
    const linked = yield* links.list(tx, "game", [pid, gameId]);
    if (linked.length > 0)
      found.set(
        gameId,
        linked.map(({ record }) => record.chatId),
      );
  }
  return found;
});

const exportPage = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  after: ChatId | null,
  limit: number,
) {
  const page: Array<Link> = [];
  let last = after;
  while (page.length < limit) {
    const start = last === null ? {} : { after: [pid, last] };
    const records = yield* links.scan(tx, [pid], { ...start, limit });
    for (const { record } of records) {
      if (isLinked(record)) page.push(record);
      last = record.chatId;
    }
    if (records.length < limit) break;
  }
  return page.slice(0, limit);
});
