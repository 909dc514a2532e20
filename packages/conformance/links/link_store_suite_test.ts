import { AuditLog, type GameId, LinkStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { linkStoreSuite } from "../mod.ts";
import { failingTitles, withMistake } from "../test_mistakes.ts";

type Store = LinkStore["Service"];

const memory = StorageMemory.layer;

const removedOf = (gameId: GameId | null) =>
  Option.map(Option.fromNullOr(gameId), (removed) => ({ gameId: removed, ended: [] }));

/** Mistakes of an adapter, by the case that must detect them. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
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
        let counts = { inserted: 0, replaced: 0, kept: 0 };
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
};

test.describe("linkStoreSuite", () => {
  test.it("passes on memory", async () => {
    test
      .expect(await failingTitles((api) => linkStoreSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("detects a mistake with: %s", async (title, mistake) => {
    const layer = withMistake(memory, LinkStore, mistake);
    test
      .expect(await failingTitles((api) => linkStoreSuite({ name: "", layer, test: api })))
      .toContain(title);
  });

  test.it("detects writes without their entries", async () => {
    const layer = withMistake(memory, AuditLog, (log) => ({
      list: (account, before, limit) =>
        Effect.map(log.list(account, before, limit), (entries) => entries.slice(1)),
    }));
    const failed = await failingTitles((api) => linkStoreSuite({ name: "", layer, test: api }));
    test.expect(failed).toContain("each write logs one entry, and a write without a change logs none");
  });
});
