import { ChatId, GameId, Pid } from "@accountlink/core";
import { ImportStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Layer } from "effect";
import { expect, it } from "vitest";
import { Database } from "../database.ts";
import { rangeOf } from "../keys.ts";
import { type Kv, layer, memoryKv } from "../mod.ts";
import { linkImports } from "./import_records.ts";

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

it("the unfinished undos are found without reading other imports of the day", () =>
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
    expect(named).toEqual(["begun"]);
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
    for (const { undone, ...one } of yield* db.read((tx) => tx.scan(linkImports, []))) {
      const { isDone: _, ...earlier } = undone ?? { entry: 0, removed: 0, restored: 0 };
      yield* db.write(pid, (tx) => tx.put(linkImports, { ...one, undone: undone && earlier }));
    }
    const entries = yield* kv.list(rangeOf("link_import.undoing", []), { limit: 9, reverse: false });
    yield* kv.commit(
      [],
      entries.map(({ key }) => ({ key, value: null })),
    );
    const store = yield* open(kv);
    expect(yield* unfinished(store)).toEqual([["begun", 1]]);
    expect(yield* store.undo({ ...write, id: "begun", limit: 2 })).toEqual({
      removed: 1,
      restored: 0,
      isDone: true,
    });
    expect(yield* unfinished(store)).toEqual([]);
  }).pipe(Effect.runPromise));
