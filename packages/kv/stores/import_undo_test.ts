import { ChatId, GameId, Pid } from "@accountlink/core";
import { ImportStore, importedLinks, linkImports } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Layer } from "effect";
import { expect, it } from "vitest";
import { Database } from "../database.ts";
import { type Kv, layer, memoryKv } from "../mod.ts";
import { kvTable } from "../record_tables.ts";
import { earlierLinkImports, earlierMadeLinks } from "./earlier_tables.ts";

const pid = Pid.make(`pid_${"1".repeat(32)}`);
const write = { actor: { type: "operator", id: "ada" }, requestId: null, pid, at: 1 } as const;
const ids = ["untouched", "begun", "done"];

const open = (kv: Kv) => Effect.provide(ImportStore, Layer.fresh(layer(Effect.succeed(kv))));

/** Three imports of two links each: one is not undone, of the second a link is undone, and the third is undone. */
const writeImports = (kv: Kv) =>
  Effect.gen(function* () {
    const keys = yield* KeyStore;
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
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
  }).pipe(Effect.provide(Layer.fresh(layer(Effect.succeed(kv)))));

const unfinished = (store: ImportStore["Service"]) =>
  Effect.map(store.listUnfinishedUndos(2), (found) => found.map(({ id, done }) => [id, done]));

it("the unfinished undos are found without reading imports that nobody undoes", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    yield* writeImports(kv);
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
  }).pipe(Effect.runPromise));

it("an undo that a batch of its import followed is unfinished again", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    yield* writeImports(kv);
    const store = yield* open(kv);
    const links = [{ chatId: ChatId.make("20001"), gameId: GameId.make("1"), lastVerifiedAt: 1 }];
    const file = { id: "done", name: "users.csv", isUndoable: true };
    yield* store.importBatch({ ...write, existing: "replace", proof: "import", progress: null, links, file });
    expect(yield* unfinished(store)).toEqual([
      ["begun", 1],
      ["done", 2],
    ]);
  }).pipe(Effect.runPromise));

it("an undo that an earlier release began is listed, and goes on", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    yield* writeImports(kv);
    const db = new Database(kv);
    for (const one of yield* db.read((tx) => tx.scan(kvTable(linkImports), []))) {
      const { inserted, replaced, unchanged, kept, undoEntry, removed, restored, ...rest } = one;
      yield* db.write(pid, function* (tx) {
        yield* tx.remove(kvTable(linkImports), one.id);
        yield* tx.put(earlierLinkImports, {
          ...rest,
          account: 1,
          epoch: 1,
          counts: { inserted, replaced, unchanged, kept },
          undone: undoEntry === null ? null : { entry: undoEntry, removed, restored },
        });
      });
    }
    for (const link of yield* db.read((tx) => tx.scan(kvTable(importedLinks), []))) {
      const { importId: id, chatId, gameId, linkVersion, verifiedAt: lastVerifiedAt } = link;
      const made = { gameId, linkVersion, lastVerifiedAt };
      yield* db.write(pid, function* (tx) {
        yield* tx.remove(kvTable(importedLinks), id, chatId);
        yield* tx.put(earlierMadeLinks, { pid, epoch: 1, id, chatId, made });
      });
    }
    const store = yield* open(kv);
    expect(yield* unfinished(store)).toEqual([["begun", 1]]);
    expect(yield* store.undo({ ...write, id: "begun", limit: 2 })).toEqual({
      removed: 1,
      restored: 0,
      isDone: true,
    });
    expect(yield* unfinished(store)).toEqual([]);
  }).pipe(Effect.runPromise));
