import { ChatId, GameId } from "@accountlink/core";
import { ImportStore, importedLinks, linkImports } from "@accountlink/core/imports";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { Database } from "../database.ts";
import { type Kv, memoryKv } from "../mod.ts";
import { kvTable } from "../record_tables.ts";
import { makeScope, onStorage, origin, pid, storeEarlier } from "./test_storage.ts";

const write = { ...origin, pid, at: 1 };
const ids = ["untouched", "begun", "done"];

const open = (kv: Kv) => onStorage(kv, ImportStore);

/** Three imports of two links each: one is not undone, of the second a link is undone, and the third is undone. */
const writeImports = Effect.gen(function* () {
  yield* makeScope;
  const { importBatch, undo } = yield* ImportStore;
  for (const [index, id] of ids.entries()) {
    const links = [1, 2].map((each) => ({
      chatId: ChatId.make(`${10_000 + 10 * index + each}`),
      gameId: GameId.make("1"),
      lastVerifiedAt: 1,
    }));
    const file = { id, name: "users.csv", isUndoable: true };
    yield* importBatch({ ...write, existing: "replace", proof: "import", progress: null, links, file });
  }
  yield* undo({ ...write, id: "begun", limit: 1 });
  yield* undo({ ...write, id: "done", limit: 2 });
  yield* undo({ ...write, id: "done", limit: 2 });
});

const unfinished = (store: ImportStore["Service"]) =>
  Effect.map(store.unfinishedUndos(null, 9), ({ undos }) => undos.map(({ id, done }) => [id, done]));

test("the unfinished undos are found without reading imports that nobody undoes", function* () {
  const kv = memoryKv();
  yield* onStorage(kv, writeImports);
  const read: Array<string> = [];
  const store = yield* open({
    ...kv,
    get: (keys) => {
      read.push(...keys);
      return kv.get(keys);
    },
  });
  // What the start read.
  read.length = 0;
  expect(yield* unfinished(store)).toEqual([["begun", 1]]);
  const named = ids.filter((id) => read.some((key) => key.includes(id)));
  expect(named).toEqual(["begun", "done"]);
});

test("a look reads a page of the undos, and the next one those behind it", function* () {
  const kv = memoryKv();
  yield* onStorage(kv, writeImports);
  const { unfinishedUndos } = yield* open(kv);
  const pages = [yield* unfinishedUndos(null, 1)];
  for (let page = pages[0]; page?.next; pages.push(page)) page = yield* unfinishedUndos(page.next, 1);
  expect(pages.map(({ undos }) => undos.map(({ id }) => id))).toEqual([["begun"], [], []]);
});

test("an undo that a batch of its import followed is unfinished again", function* () {
  const kv = memoryKv();
  yield* onStorage(kv, writeImports);
  const store = yield* open(kv);
  const links = [{ chatId: ChatId.make("20001"), gameId: GameId.make("1"), lastVerifiedAt: 1 }];
  const file = { id: "done", name: "users.csv", isUndoable: true };
  yield* store.importBatch({ ...write, existing: "replace", proof: "import", progress: null, links, file });
  expect(yield* unfinished(store)).toEqual([
    ["begun", 1],
    ["done", 2],
  ]);
});

test("an undo that an earlier release began is listed, and goes on", function* () {
  const kv = memoryKv();
  yield* onStorage(kv, writeImports);
  const db = new Database(kv);
  for (const one of yield* db.read((tx) => tx.scan(kvTable(linkImports), []))) {
    const { inserted, replaced, unchanged, kept, undoEntry, removed, restored, ...rest } = one;
    const counts = { inserted, replaced, unchanged, kept };
    const undone = undoEntry === null ? null : { entry: undoEntry, removed, restored };
    yield* db.write(pid, (tx) => tx.remove(kvTable(linkImports), one.id));
    yield* storeEarlier(kv, [[["link_import", one.id], { ...rest, account: 1, epoch: 1, counts, undone }]]);
  }
  for (const link of yield* db.read((tx) => tx.scan(kvTable(importedLinks), []))) {
    const { importId: id, chatId, gameId, linkVersion, verifiedAt: lastVerifiedAt } = link;
    const made = { gameId, linkVersion, lastVerifiedAt };
    yield* db.write(pid, (tx) => tx.remove(kvTable(importedLinks), id, chatId));
    yield* storeEarlier(kv, [[["made_link", pid, 1, id, chatId], { pid, epoch: 1, id, chatId, made }]]);
  }
  const store = yield* open(kv);
  expect(yield* unfinished(store)).toEqual([["begun", 1]]);
  expect(yield* store.undo({ ...write, id: "begun", limit: 2 })).toEqual({
    removed: 1,
    restored: 0,
    isDone: true,
  });
  expect(yield* unfinished(store)).toEqual([]);
});
