import { type ImportHolder, ImportStore, importKeptFor } from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import { Option } from "effect";
import { countUndoable, listUndoable, undoImport } from "./link_imports.ts";
import { importBatch } from "./link_store.ts";
import { layerOf, type MemoryImport } from "./state.ts";

const sizeOf = ({ files }: MemoryImport): number =>
  [...files.values()].flat().reduce((sum, { length }) => sum + length, 0);

export const layer = layerOf(ImportStore, (memory) => {
  const { imports } = memory;
  const findById = (id: string) => [...imports.values()].find((one) => one.id === id);
  const findHeld = ({ id, node }: ImportHolder) => {
    const found = findById(id);
    return found?.holder === node ? found : undefined;
  };
  /** Changes an import, unless there is none. */
  const change = (found: MemoryImport | undefined, changes: Partial<MemoryImport>): boolean => {
    if (found !== undefined) imports.set(found.account, { ...found, ...changes });
    return found !== undefined;
  };

  return {
    begin: ({ id, node, at, until, account, room }) => {
      assertStorable([id, node, account]);
      const before = imports.get(account);
      const isBusy =
        before !== undefined &&
        at < before.expiresAt &&
        (before.phase === "running" || (before.phase === "reading" && at < before.heldUntil));
      if (!isBusy) imports.delete(account);
      let total = 0;
      for (const one of [...imports.values()].toSorted((a, b) => b.begunAt - a.begunAt)) {
        total += sizeOf(one);
        if (total > room && one.phase !== "running") imports.delete(one.account);
      }
      // The import that is being read may just have been removed to make room.
      if (imports.has(account)) return false;
      imports.set(account, {
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
        files: new Map(),
      });
      return true;
    },

    append: (holder, { file, part, bytes }) => {
      assertStorable([file]);
      const parts = findHeld(holder)?.files;
      if (parts === undefined) return false;
      const before = part === 0 ? [] : (parts.get(file) ?? []);
      if (before[part] !== undefined)
        throw new Error(`Part ${part} of "${file}" is stored, expected a new one`);
      before[part] = bytes.slice();
      parts.set(file, before);
      return true;
    },

    readPart: (id, { file, part }) => Option.fromUndefinedOr(findById(id)?.files.get(file)?.[part]),

    find: (account, at) => {
      const found = imports.get(account);
      return found === undefined || found.expiresAt <= at ? Option.none() : Option.some(storedOf(found));
    },

    save: ({ id, node, at, until, ...state }) =>
      change(findHeld({ id, node }), { ...state, heldUntil: until, expiresAt: at + importKeptFor }),

    start: ({ id, node, at, until }) => {
      const found = findById(id);
      const held = { holder: node, heldUntil: until, expiresAt: at + importKeptFor };
      return found?.phase === "ready" && change(found, { ...held, phase: "running" });
    },

    take: ({ node, at, until }) => {
      const free = [...imports.values()].find(
        ({ phase, heldUntil }) => phase === "running" && heldUntil <= at,
      );
      if (free === undefined) return Option.none();
      change(free, { holder: node, heldUntil: until, expiresAt: at + importKeptFor });
      return Option.some(storedOf(free));
    },

    importBatch: (holder, batch) => {
      const held = findHeld(holder);
      if (held === undefined) return Option.none();
      const { inserted, replaced, unchanged, kept } = importBatch(memory, batch);
      const { counts } = held;
      change(held, {
        counts: {
          inserted: counts.inserted + inserted,
          replaced: counts.replaced + replaced,
          unchanged: counts.unchanged + unchanged,
          kept: counts.kept + kept,
        },
      });
      return Option.some({ inserted, replaced, unchanged, kept });
    },

    remove: (id) => {
      const found = findById(id);
      return found !== undefined && found.phase !== "running" && imports.delete(found.account);
    },

    listUndoable: (account, at) => listUndoable(memory, account, at),

    countUndoable: (id) => countUndoable(memory, id),

    undo: (write) => undoImport(memory, write),

    sweep: (at) => {
      for (const [account, { expiresAt }] of imports) if (expiresAt <= at) imports.delete(account);
      for (const [id, { endsAt }] of memory.linkImports) if (endsAt <= at) memory.linkImports.delete(id);
    },
  };
});

const storedOf = ({ id, account, pid, phase, details, counts }: MemoryImport) => ({
  id,
  account,
  pid,
  phase,
  details,
  counts,
});
