import { AuditLog, type GameId, LinkStore } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { linkStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

const removedOf = (gameId: GameId | null) =>
  Option.map(Option.fromNullOr(gameId), (removed) => ({ gameId: removed, ended: [] }));

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(linkStoreSuite, StorageMemory.layer, LinkStore, {
  "findByChatId returns the whole record, before and after removeGame": (store) => {
    const seen = new Map<string, Effect.Success<ReturnType<typeof store.findByChatId>>>();
    return {
      findByChatId: (pid, chatId) =>
        Effect.map(store.findByChatId(pid, chatId), (found) => {
          const first = seen.get(pid + chatId) ?? found;
          seen.set(pid + chatId, first);
          return first;
        }),
    };
  },
  "exportPage fills its page past records without a link": (store) => ({
    exportPage: (pid, after, limit) =>
      Effect.map(store.exportPage(pid, after, limit), (links) => (limit === 1 ? [] : links)),
  }),
  'importBatch with "keep" changes no record, not even one without a link': (store) => ({
    importBatch: (batch) => store.importBatch({ ...batch, existing: "replace" }),
  }),
  "importBatch deletes the progress of old imports": (store) => ({
    importBatch: (batch) => store.importBatch({ ...batch, at: 0 }),
  }),
  "concurrent setGame on one chat user: versions and previous games form one chain": (store) => ({
    setGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* Effect.yieldNow;
        const previousGameId = Option.getOrNull(found)?.gameId ?? null;
        return { ...(yield* store.setGame(write)), previousGameId };
      }),
  }),
  "setGame with the same game only updates the verification time": (store) => ({
    setGame: (write) =>
      Effect.gen(function* () {
        yield* store.removeGame(write);
        return yield* store.setGame(write);
      }),
  }),
  "moveChat to a linked chat user changes nothing, not even with the same game": (store) => ({
    moveChat: (write) =>
      Effect.gen(function* () {
        yield* store.removeGame({ ...write, chatId: write.newChatId });
        return yield* store.moveChat(write);
      }),
  }),
  "moveChat checks the old chat user first": (store) => ({
    moveChat: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.newChatId);
        return Option.isSome(found) ? { _tag: "Occupied" as const } : yield* store.moveChat(write);
      }),
  }),
  "concurrent moveChat to one chat user: exactly one succeeds": (store) => ({
    moveChat: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.newChatId);
        yield* Effect.yieldNow;
        if (Option.isSome(found)) return { _tag: "Occupied" as const };
        yield* store.removeGame({ ...write, chatId: write.newChatId });
        return yield* store.moveChat(write);
      }),
  }),
  "concurrent removeGame: exactly one succeeds": (store) => ({
    removeGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* Effect.yieldNow;
        yield* store.removeGame(write);
        return Option.flatMap(found, ({ gameId }) => removedOf(gameId));
      }),
  }),
  "removeGame returns the removed game once": (store) => ({
    removeGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* store.removeGame(write);
        return Option.map(found, ({ gameId }) => ({ gameId: gameId as GameId, ended: [] }));
      }),
  }),
  "deleteScope deletes and counts every record, with and without a link": (store) => ({
    deleteScope: (write) =>
      Effect.gen(function* () {
        const { length } = yield* store.exportPage(write.pid, null, 1_000);
        return { ...(yield* store.deleteScope(write)), records: length };
      }),
  }),
  "a large scope is deleted and counted like a small one, with one audit entry": (store) => ({
    deleteAhead: (write) => Effect.as(store.deleteScope(write), null),
  }),
  "countLinks counts the links last verified on some days, whatever made or ended them": (store) => ({
    countLinks: (pid, options) =>
      store.countLinks(
        pid,
        options?.verified && { verified: { ...options.verified, before: options.verified.before + dayMs } },
      ),
  }),
  "countLinks stops at enough, unless it has the number": (store) => ({
    countLinks: (pid, { enough = 0, ...options } = {}) =>
      Effect.map(store.countLinks(pid, options), (links) => Math.min(links, enough - 1)),
  }),
  "findGamesByChatIds returns each game user once, and omits chat users without a link": (store) => ({
    findGamesByChatIds: (pid, chatIds) =>
      Effect.map(store.findByChatIds(pid, chatIds), (found) => {
        const games = Array.from(found, ([chatId, { gameId }]) => [chatId, gameId as GameId] as const);
        return new Map(games);
      }),
  }),
  "findByGameIds sorts by newest link, then by chat ID as text": (store) => ({
    findByGameIds: (pid, gameIds) =>
      Effect.map(
        store.findByGameIds(pid, gameIds),
        (found) => new Map(Array.from(found, ([gameId, chatIds]) => [gameId, chatIds.toReversed()])),
      ),
  }),
  "IDs are text: 32 digits and leading zeros are significant": (store) => ({
    findByChatId: (pid, chatId) => store.findByChatId(pid, `${BigInt(chatId)}` as typeof chatId),
    setGame: (write) => store.setGame({ ...write, chatId: `${BigInt(write.chatId)}` as typeof write.chatId }),
  }),
  "readers never see a partial batch": (store) => ({
    importBatch: (batch) =>
      Effect.gen(function* () {
        let counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
        for (const link of batch.links) {
          counts = yield* store.importBatch({ ...batch, links: [link] });
          yield* Effect.yieldNow;
        }
        return counts;
      }),
  }),
  "an interrupted importBatch stores links, position and entry, or none of them": (store) => ({
    importBatch: (batch) =>
      Effect.gen(function* () {
        const counts = yield* store.importBatch({ ...batch, progress: null });
        yield* Effect.yieldNow;
        yield* store.importBatch({ ...batch, links: [] });
        return counts;
      }),
  }),
  "exportPage sorts links by chat ID as text, and omits records without a link": (store) => ({
    exportPage: (pid, after, limit) =>
      Effect.map(store.exportPage(pid, after, limit), (links) =>
        links.toSorted((one, other) => Number(one.chatId) - Number(other.chatId)),
      ),
  }),
});

detectMistakes(linkStoreSuite, StorageMemory.layer, AuditLog, {
  "each write logs one entry, and a write without a change logs none": (log) => ({
    list: (account, before, limit) =>
      Effect.map(log.list(account, before, limit), (entries) => entries.slice(1)),
  }),
  "each import batch logs one entry, and a batch without a change logs none": (log) => ({
    list: (account, before, limit) =>
      Effect.map(log.list(account, before, limit), (entries) => [...entries, ...entries.slice(-1)]),
  }),
});
