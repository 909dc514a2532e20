import { AuditLog, type ChatId, type GameId, type StoragePorts } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { undoableFor } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { isOrWasLinked } from "@accountlink/core/links";
import { UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { line } from "../links/link_steps.ts";
import { ada, bob, chess, cyd, dan, origin, poker, rummy } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { makeSteps } from "./import_steps.ts";

const both = (gameId: GameId) => [line(ada, gameId, 1), line(bob, gameId, 1)];

/** Cases of the undo of imports. */
export const undos: Cases<StoragePorts> = {
  "an import can be undone for a day, and an erasure ends the undo of a user's link": function* () {
    const { importBatch, write, undoablePage, undo, global } = yield* makeSteps;
    const [chatId, id] = [uniqueChatId(), uniqueText()];
    yield* importBatch({
      ...write,
      links: [line(chatId, chess), line(bob, chess)],
      existing: "replace",
      proof: "import",
      progress: null,
      file: { id, name: "users.csv", isUndoable: true },
    });
    const names = { pseudonym: uniqueText(), ownerHash: uniqueText() };
    const erase = { ...origin, ...names, chatId, at: 1, scopes: [global.pid] };
    yield* UserStore.use((users) => users.erase(erase));
    expectEqual((yield* undoablePage(id, null, 10)).links, [{ chatId: bob, isRemoved: true }]);
    const undone = (at: number) => undo({ ...write, id, limit: 10, at });
    expectEqual(yield* undone(undoableFor), { removed: 0, restored: 0, isDone: true });
    expectEqual(yield* undone(undoableFor - 1), { removed: 1, restored: 0, isDone: true });
  },

  "the last three imports of a scope can be undone, and no other": function* () {
    const { countChanges, importBatch, listUndoable, sweepUndo, undo, write, account } = yield* makeSteps;
    const ids = Array.from({ length: 5 }, () => uniqueText());
    const chats = ids.map(() => uniqueChatId());
    for (const [at, id] of ids.entries()) {
      const links = [line(chats[at] as ChatId, chess)];
      const file = { id, name: "users.csv", isUndoable: at !== 3 };
      const batch = { existing: "replace", proof: "import", progress: null } as const;
      yield* importBatch({ ...write, ...batch, at, links, file });
    }
    const listed = Effect.map(listUndoable(account.name, 9), (all) => all.map(({ id }) => id));
    const [first, ...last] = ids.filter((_, at) => at !== 3);
    expectEqual(yield* listed, last.toReversed());
    const undone = (id = "") =>
      Effect.map(undo({ ...write, at: 9, id, limit: 10 }), ({ removed }) => removed);
    expectEqual(yield* undone(first), 0);
    yield* sweepUndo(-1_000_000_000);
    expectEqual(yield* undone(last[0]), 1);
    expectEqual(yield* listed, last.toReversed());
    const changed = [undoableFor - 1, undoableFor, undoableFor + 9];
    expectEqual(yield* Effect.forEach(changed, (at) => countChanges(account.name, at)), [6, 5, 0]);
  },

  "an import that was undone takes the place of no other among the last three": function* () {
    const { importBatch, listUndoable, undo, write, account } = yield* makeSteps;
    const run = Effect.fnUntraced(function* (at: number) {
      const id = uniqueText();
      const batch = { existing: "replace", proof: "import", progress: null } as const;
      const file = { id, name: "users.csv", isUndoable: true };
      yield* importBatch({ ...write, ...batch, at, links: [line(uniqueChatId(), chess)], file });
      return id;
    });
    const ids = yield* Effect.forEach([0, 1, 2], run);
    yield* undo({ ...write, at: 9, id: ids[2] ?? "", limit: 10 });
    const later = yield* run(3);
    const listed = yield* listUndoable(account.name, 9);
    expectEqual(
      listed.map(({ id }) => id),
      [later, ...ids.toReversed()],
    );
  },

  "what an undone import made was no link: a later import takes it as if it had never been": function* () {
    const { importBatch, links, undo, write, global } = yield* makeSteps;
    const [fresh, removed, linked] = [uniqueChatId(), uniqueChatId(), uniqueChatId()];
    const chatIds = [fresh, removed, linked];
    for (const chatId of [removed, linked]) yield* links.setGame({ ...write, at: 3, chatId, gameId: chess });
    yield* links.removeGame({ ...write, at: 5, chatId: removed });
    const recordOf = (chatId: ChatId) =>
      Effect.map(links.findByChatId(global.pid, chatId), (found) => {
        if (Option.isNone(found)) return null;
        const { linkVersion: _, ...record } = found.value;
        return record;
      });
    const before = yield* Effect.forEach(chatIds, recordOf);
    const wrong = uniqueText();
    const batch = { proof: "import", progress: null } as const;
    yield* importBatch({
      ...write,
      ...batch,
      at: 7,
      existing: "newest",
      links: chatIds.map((chatId) => line(chatId, poker, 7)),
      file: { id: wrong, name: "wrong.csv", isUndoable: true },
    });
    yield* undo({ ...write, at: 8, id: wrong, limit: 10 });
    const after = yield* Effect.forEach(chatIds, recordOf);
    expectEqual(after.slice(1), before.slice(1));
    const none = yield* links.findByChatId(global.pid, fresh);
    expectEqual(Option.map(none, isOrWasLinked), Option.some(false));
    const right = (existing: "keep" | "newest") =>
      importBatch({
        ...write,
        ...batch,
        at: 9,
        existing,
        links: chatIds.map((chatId) => line(chatId, rummy, 4)),
        file: { id: `${wrong} ${existing}`, name: "right.csv", isUndoable: true },
      });
    expectEqual(yield* right("newest"), { inserted: 1, replaced: 1, unchanged: 0, kept: 1 });
    yield* undo({ ...write, at: 10, id: `${wrong} newest`, limit: 10 });
    expectEqual(yield* Effect.forEach(chatIds, recordOf), after);
    expectEqual(yield* right("keep"), { inserted: 1, replaced: 0, unchanged: 0, kept: 2 });
  },

  "three imports of the same links can be undone in any order, and leave the links from before all":
    function* () {
      const games = [poker, rummy, poker];
      for (const order of [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
      ]) {
        const { importBatch, links, undo, write, global } = yield* makeSteps;
        const [fresh, removed, linked] = [uniqueChatId(), uniqueChatId(), uniqueChatId()];
        const chatIds = [fresh, removed, linked];
        for (const chatId of [removed, linked])
          yield* links.setGame({ ...write, at: 3, chatId, gameId: chess });
        yield* links.removeGame({ ...write, at: 4, chatId: removed });
        const records = Effect.forEach(chatIds, (chatId) =>
          Effect.map(links.findByChatId(global.pid, chatId), (found) => {
            if (!Option.exists(found, isOrWasLinked)) return null;
            const { linkVersion: _, ...record } = Option.getOrThrow(found);
            return record;
          }),
        );
        const before = yield* records;
        const ids = games.map(() => uniqueText());
        for (const [index, id] of ids.entries()) {
          const batch = { existing: "replace", proof: "import", progress: null, at: 5 + index } as const;
          const imported = chatIds.map((chatId) => line(chatId, games[index] ?? chess, 5 + index));
          yield* importBatch({
            ...write,
            ...batch,
            links: imported,
            file: { id, name: "a.csv", isUndoable: true },
          });
        }
        for (const index of order) yield* undo({ ...write, at: 9, id: ids[index] ?? "", limit: 10 });
        expectEqual([order, yield* records], [order, before]);
      }
    },

  "an undo gives back nothing that an undone import made, but what others set between two imports":
    function* () {
      const { importBatch, links, undo, write, global } = yield* makeSteps;
      const [one, other] = [uniqueText(), uniqueText()];
      const run = (id: string, at: number, gameId: GameId) =>
        importBatch({
          ...write,
          at,
          existing: "replace",
          proof: "import",
          progress: null,
          links: [line(ada, gameId, at), line(bob, gameId, at)],
          file: { id, name: "users.csv", isUndoable: true },
        });
      yield* run(one, 5, poker);
      yield* links.setGame({ ...write, at: 6, chatId: bob, gameId: chess });
      yield* run(other, 7, rummy);
      expectEqual(yield* undo({ ...write, at: 8, id: one, limit: 10 }), {
        removed: 0,
        restored: 0,
        isDone: true,
      });
      expectEqual(yield* undo({ ...write, at: 9, id: other, limit: 10 }), {
        removed: 1,
        restored: 1,
        isDone: true,
      });
      const found = yield* links.findByGameIds(global.pid, [chess, poker, rummy]);
      expectEqual([...found], [[chess, [bob]]]);
    },

  "the deletion of a scope ends the undo of its imports": function* () {
    const { importBatch, links, listUndoable, undo, undoablePage, write, account } = yield* makeSteps;
    const id = uniqueText();
    const batch = { existing: "replace", proof: "import", progress: null } as const;
    const imported = { ...write, ...batch, links: [line(ada, chess)] };
    yield* importBatch({ ...imported, file: { id, name: "users.csv", isUndoable: true } });
    yield* links.deleteScope(write);
    yield* importBatch(imported);
    expectEqual(yield* listUndoable(account.name, 1), []);
    expectEqual(yield* undoablePage(id, null, 1), { links: [], next: null });
    expectEqual(yield* undo({ ...write, at: 1, id, limit: 1 }), { removed: 0, restored: 0, isDone: true });
  },

  "an undo that has taken a part is unfinished, until it has taken all": function* () {
    const { importBatch, listUnfinishedUndos, undo, write, account, global } = yield* makeSteps;
    const id = uniqueText();
    const links = [line(uniqueChatId(), chess), line(uniqueChatId(), chess)];
    const file = { id, name: "users.csv", isUndoable: true };
    const batch = { existing: "replace", proof: "import", progress: null } as const;
    yield* importBatch({ ...write, ...batch, links, file });
    const unfinished = Effect.map(listUnfinishedUndos(2), (all) =>
      all.filter((one) => one.account === account.name),
    );
    expectEqual(yield* unfinished, []);
    yield* undo({ ...write, at: 1, id, limit: 1 });
    expectEqual(yield* unfinished, [{ id, pid: global.pid, account: account.name, done: 1 }]);
    yield* undo({ ...write, at: 1, id, limit: 2 });
    expectEqual(yield* unfinished, []);
  },

  "an undo leaves out the links to a game account that was blocked, and links have no entries of their own":
    function* () {
      const { importBatch, undoablePage, links, undo, write, account, global } = yield* makeSteps;
      const blocks = yield* BlockStore;
      const id = uniqueText();
      const batch = { existing: "replace", progress: null, at: 1 } as const;
      yield* importBatch({ ...write, ...batch, links: both(chess), proof: "hand" });
      yield* links.setGame({ ...write, chatId: bob, gameId: rummy });
      const file = { id, name: "users.csv", isUndoable: true };
      yield* importBatch({ ...write, ...batch, links: both(poker), proof: "import", file });
      yield* blocks.set({ ...write, chatId: null, gameId: chess, hash: uniqueText(), reason: null });
      expectEqual(yield* undoablePage(id, null, 2), {
        links: [{ chatId: bob, isRemoved: false }],
        next: bob,
      });
      const undone = yield* undo({ ...write, at: 2, id, limit: 10 });
      expectEqual(undone, { removed: 0, restored: 1, isDone: true });
      const gameOf = (chatId: ChatId) =>
        Effect.map(links.findByChatId(global.pid, chatId), (found) => Option.getOrThrow(found).gameId);
      expectEqual([yield* gameOf(ada), yield* gameOf(bob)], [poker, rummy]);
      const { entries } = yield* AuditLog.use((log) => log.list(account.name, null, 10));
      expectEqual(
        entries.map(({ action }) => action),
        ["links.import_undone", "block.set", "links.imported", "link.set", "links.imported"],
      );
    },

  "an undo leaves out the links to a game account that another chat user has, if the scope allows one":
    function* () {
      const { importBatch, undoablePage, links, undo, write, global } = yield* makeSteps;
      const id = uniqueText();
      yield* links.setGame({ ...write, chatId: ada, gameId: chess });
      yield* links.setGame({ ...write, chatId: bob, gameId: rummy });
      const file = { id, name: "users.csv", isUndoable: true };
      const batch = { existing: "replace", proof: "import", progress: null, at: 1 } as const;
      yield* importBatch({ ...write, ...batch, links: [line(ada, poker), line(bob, poker)], file });
      yield* links.setGame({ ...write, chatId: dan, gameId: chess });
      yield* KeyStore.use((keys) => keys.updateSettings({ ...write, update: { oneChatUser: true } }));
      expectEqual((yield* undoablePage(id, null, 9)).links, [{ chatId: bob, isRemoved: false }]);
      expectEqual(yield* undo({ ...write, at: 2, id, limit: 10 }), { removed: 0, restored: 1, isDone: true });
      const found = yield* links.findByGameIds(global.pid, [chess, poker, rummy]);
      expectEqual(
        [...found],
        [
          [chess, [dan]],
          [poker, [ada]],
          [rummy, [bob]],
        ],
      );
    },

  "an undo and a batch give a game account to one of several chat users, if the scope allows one":
    function* () {
      const { importBatch, undoablePage, links, undo, write, global } = yield* makeSteps;
      const id = uniqueText();
      const file = { id, name: "users.csv", isUndoable: true };
      const batch = { ...write, existing: "replace", proof: "import", progress: null, at: 1 } as const;
      yield* importBatch({ ...batch, links: both(chess) });
      yield* importBatch({ ...batch, links: both(poker), file });
      yield* KeyStore.use((keys) => keys.updateSettings({ ...write, update: { oneChatUser: true } }));
      expectEqual((yield* undoablePage(id, null, 9)).links, [{ chatId: ada, isRemoved: false }]);
      expectEqual(yield* undo({ ...write, at: 2, id, limit: 10 }), { removed: 0, restored: 1, isDone: true });
      const lines = [line(cyd, rummy), line(dan, rummy), line(bob, chess)];
      const counts = { inserted: 1, replaced: 0, unchanged: 0, kept: 2 };
      expectEqual(yield* importBatch({ ...batch, links: lines }), counts);
      const found = yield* links.findByGameIds(global.pid, [chess, poker, rummy]);
      expectEqual(
        [...found],
        [
          [chess, [ada]],
          [poker, [bob]],
          [rummy, [dan]],
        ],
      );
    },
};
