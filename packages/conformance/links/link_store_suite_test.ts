import { type GameId, LinkStore } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { linkStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

const removedOf = (gameId: GameId | null) =>
  Option.map(Option.fromNullOr(gameId), (removed) => ({ gameId: removed, ended: [] }));

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(linkStoreSuite, StorageMemory.layer, LinkStore, {
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
});
