import { ImportStore, importKeptFor, type StoredImport } from "@accountlink/core/imports";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Option, Result, Struct } from "effect";
import { Base64 } from "effect/encoding";
import { isFull } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { importBatch, progress } from "./import_batch.ts";
import { sweepUndo, undoOperations } from "./import_undo.ts";
import { deleteFile, deleteLostFiles, fileParts, findHeld, imports, type KeptImport } from "./imports.ts";
import { storeLayer } from "./store_layer.ts";

const storedOf = (kept: KeptImport): StoredImport =>
  Struct.pick(kept, ["id", "account", "pid", "phase", "details", "counts"]);

export const layer = storeLayer(ImportStore, (db) => {
  return {
    begin: ({ id, node, at, until, account, room }) =>
      Effect.gen(function* () {
        assertStorable([id, node, account]);
        const begun = yield* db.write("all imports", function* (tx) {
          const removed: Array<string> = [];
          const drop = (one: KeptImport) => {
            removed.push(one.id);
            return tx.remove(imports, one.id);
          };
          let isBusy = false;
          for (const one of yield* tx.list(imports.byAccount, [account])) {
            const isOver = one.expiresAt <= at;
            if (isOver || (one.phase === "reading" && one.heldUntil <= at)) yield* drop(one);
            else if (one.phase === "running" || one.phase === "reading") isBusy = true;
          }
          let total = 0;
          const all = yield* tx.scan(imports, []);
          for (const one of all.toSorted((a, b) => b.begunAt - a.begunAt)) {
            total += sizeOf(one);
            if (total <= room || one.phase === "running") continue;
            // The next import makes further room.
            if (isFull(tx)) break;
            yield* drop(one);
            // The import that is being read may just have been removed to make room.
            if (one.account === account && one.phase === "reading") isBusy = false;
          }
          if (isBusy) return { isBegun: false, removed };
          yield* tx.put(imports, {
            id,
            account,
            pid: null,
            phase: "reading",
            details: "",
            counts: { inserted: 0, replaced: 0, unchanged: 0, kept: 0 },
            holder: node,
            heldUntil: until,
            begunAt: at,
            expiresAt: at + importKeptFor,
            files: {},
          });
          return { isBegun: true, removed };
        });
        for (const lost of begun.removed) yield* deleteFile(db, [lost]);
        return begun.isBegun;
      }),

    append: (holder, { file, part, bytes }) =>
      Effect.gen(function* () {
        assertStorable([file]);
        const { id } = holder;
        const before = yield* db.read((tx) => tx.get(imports, id));
        if (before?.holder !== holder.node) return false;
        if (part === 0) yield* deleteFile(db, [id, file]);
        else if (part < (before.files[file]?.parts ?? 0)) {
          throw new Error(`Part ${part} of "${file}" is stored, expected a new one`);
        }
        yield* db.write(id, (tx) => tx.put(fileParts, { id, file, part, text: Base64.encode(bytes) }));
        return yield* db.write("all imports", function* (tx) {
          const found = yield* findHeld(tx, holder);
          if (found === undefined) return false;
          const size = (part === 0 ? 0 : (found.files[file]?.size ?? 0)) + bytes.length;
          yield* tx.put(imports, { ...found, files: { ...found.files, [file]: { parts: part + 1, size } } });
          return true;
        });
      }),

    readPart: (id, { file, part }) =>
      db.read(function* (tx) {
        const found = yield* tx.get(imports, id);
        const stored = found?.files[file] && (yield* tx.get(fileParts, id, file, part));
        return Option.map(Option.fromUndefinedOr(stored), ({ text }) =>
          Result.getOrThrow(Base64.decode(text)),
        );
      }),

    find: (account, at) =>
      db.read(function* (tx) {
        const found = yield* ofAccount(tx, account);
        return Option.fromUndefinedOr(found.find(({ expiresAt }) => at < expiresAt)).pipe(
          Option.map(storedOf),
        );
      }),

    save: ({ id, node, at, until, ...state }) =>
      Effect.gen(function* () {
        const saved = yield* db.write("all imports", function* (tx) {
          const found = yield* findHeld(tx, { id, node });
          const isRead = found?.phase === "reading" && state.phase !== "reading";
          const replaced = isRead ? yield* ofAccount(tx, found.account) : [];
          if (found === undefined || replaced.some(({ phase }) => phase === "running")) return null;
          for (const one of replaced) yield* tx.remove(imports, one.id);
          yield* tx.put(imports, { ...found, ...state, heldUntil: until, expiresAt: at + importKeptFor });
          return replaced;
        });
        for (const lost of saved ?? []) yield* deleteFile(db, [lost.id]);
        return saved !== null;
      }),

    start: ({ id, node, at, until }) =>
      db.write("all imports", function* (tx) {
        const found = yield* tx.get(imports, id);
        if (found?.phase !== "ready") return false;
        const held = { holder: node, heldUntil: until, expiresAt: at + importKeptFor };
        yield* tx.put(imports, { ...found, ...held, phase: "running" });
        return true;
      }),

    take: ({ node, at, until }) =>
      Effect.gen(function* () {
        const [free] = yield* db.read((tx) => tx.list(imports.running, [], { before: [at + 1], limit: 1 }));
        if (free === undefined) return Option.none();
        return yield* db.write("all imports", function* (tx) {
          const found = yield* tx.get(imports, free.id);
          if (found?.phase !== "running" || found.heldUntil > at) return Option.none();
          yield* tx.put(imports, { ...found, holder: node, heldUntil: until, expiresAt: at + importKeptFor });
          return Option.some(storedOf(found));
        });
      }),

    importBatch: (batch) => importBatch(db, batch),

    importPosition: (source) =>
      db.read((tx) => Effect.map(tx.get(progress, source), (saved) => saved?.position ?? 0)),

    remove: (id) =>
      Effect.gen(function* () {
        const isRemoved = yield* db.write("all imports", function* (tx) {
          const found = yield* tx.get(imports, id);
          if (found === undefined || found.phase === "running") return false;
          yield* tx.remove(imports, id);
          return true;
        });
        if (isRemoved) yield* deleteFile(db, [id]);
        return isRemoved;
      }),

    ...undoOperations(db),

    sweep: (at) =>
      Effect.gen(function* () {
        const ended = yield* db.read((tx) => tx.list(imports.byEnd, [], { before: [at + 1] }));
        for (const { id } of ended) {
          yield* db.write("all imports", function* (tx) {
            const found = yield* tx.get(imports, id);
            if (found !== undefined && found.expiresAt <= at) yield* tx.remove(imports, id);
          });
        }
        yield* deleteLostFiles(db);
        yield* sweepUndo(db, at);
      }),
  };
});

/** The imports of an account, without one that is being read. */
const ofAccount = (tx: Transaction, account: string) =>
  Effect.map(tx.list(imports.byAccount, [account]), (all) => all.filter(({ phase }) => phase !== "reading"));

const sizeOf = ({ files }: KeptImport): number =>
  Object.values(files).reduce((sum, { size }) => sum + size, 0);
