import { AuditLog, type GameId, LinkStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { linkStoreSuite } from "./mod.ts";

type Store = LinkStore["Service"];

const memory = StorageMemory.layer;

const removedOf = (gameId: GameId | null) =>
  Option.map(Option.fromNullOr(gameId), (removed) => ({ gameId: removed, ended: [] }));

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "racing setGame on one chat user: one chain of values, no version missing or twice": (store) => ({
    setGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* Effect.yieldNow;
        const previousGameId = Option.getOrNull(found)?.gameId ?? null;
        return { ...(yield* store.setGame(write)), previousGameId };
      }),
  }),
  "setGame with the same game only confirms": (store) => ({
    setGame: (write) =>
      Effect.gen(function* () {
        yield* store.removeGame(write);
        return yield* store.setGame(write);
      }),
  }),
  "moveChat to a user with a link changes nothing, also with the same game": (store) => ({
    moveChat: (write) =>
      Effect.gen(function* () {
        yield* store.removeGame({ ...write, chatId: write.newChatId });
        return yield* store.moveChat(write);
      }),
  }),
  "moveChat looks at the old chat user first": (store) => ({
    moveChat: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.newChatId);
        return Option.isSome(found) ? { _tag: "Occupied" as const } : yield* store.moveChat(write);
      }),
  }),
  "racing moveChat to one chat user: exactly one moves": (store) => ({
    moveChat: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.newChatId);
        yield* Effect.yieldNow;
        if (Option.isSome(found)) return { _tag: "Occupied" as const };
        yield* store.removeGame({ ...write, chatId: write.newChatId });
        return yield* store.moveChat(write);
      }),
  }),
  "racing removeGame: exactly one removes": (store) => ({
    removeGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* Effect.yieldNow;
        yield* store.removeGame(write);
        return Option.flatMap(found, ({ gameId }) => removedOf(gameId));
      }),
  }),
  "removeGame gives what was linked, once": (store) => ({
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
  "findByGameIds gives the newest link first, ties by chat ID as strings": (store) => ({
    findByGameIds: (pid, gameIds) =>
      Effect.map(
        store.findByGameIds(pid, gameIds),
        (found) => new Map(Array.from(found, ([gameId, chatIds]) => [gameId, chatIds.toReversed()])),
      ),
  }),
  "IDs are texts: 32 digits are kept, and leading zeros tell IDs apart": (store) => ({
    findByChatId: (pid, chatId) => store.findByChatId(pid, `${BigInt(chatId)}` as typeof chatId),
    setGame: (write) => store.setGame({ ...write, chatId: `${BigInt(write.chatId)}` as typeof write.chatId }),
  }),
  "nobody sees half of a batch": (store) => ({
    importBatch: (batch) =>
      Effect.gen(function* () {
        let counts = { inserted: 0, replaced: 0, kept: 0 };
        for (const link of batch.links) {
          counts = yield* store.importBatch({ ...batch, links: [link] });
          yield* Effect.yieldNow;
        }
        return counts;
      }),
  }),
  "importBatch stores all or none, its position and its entry with them, when it is interrupted": (
    store,
  ) => ({
    importBatch: (batch) =>
      Effect.gen(function* () {
        const counts = yield* store.importBatch({ ...batch, progress: null });
        yield* Effect.yieldNow;
        yield* store.importBatch({ ...batch, links: [] });
        return counts;
      }),
  }),
  "exportPage gives links by chat ID as strings, and no record without a link": (store) => ({
    exportPage: (pid, after, limit) =>
      Effect.map(store.exportPage(pid, after, limit), (links) =>
        links.toSorted((one, other) => Number(one.chatId) - Number(other.chatId)),
      ),
  }),
};

test.describe("linkStoreSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => linkStoreSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, LinkStore, mistake);
    test
      .expect(await failingTitles((api) => linkStoreSuite({ name: "", layer, test: api })))
      .toContain(title);
  });

  test.it("finds writes whose entry is not there with them", async () => {
    const layer = altered(memory, AuditLog, (log) => ({
      list: (account, before, limit) =>
        Effect.map(log.list(account, before, limit), (entries) => entries.slice(1)),
    }));
    const failed = await failingTitles((api) => linkStoreSuite({ name: "", layer, test: api }));
    test.expect(failed).toContain("each write leaves its entry, and one that changes nothing leaves none");
  });
});
