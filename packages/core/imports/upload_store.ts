/** Stores imports of uploaded files, so that any node can show an import, and take it over from a dead node. */
import { Array as Arr, Context, Effect, Option, Result, Schema, Struct } from "effect";
import { Base64 } from "effect/encoding";
import type { StoreEffect } from "../errors.ts";
import { Pid } from "../ids.ts";
import { type RecordOf, recordStore, recordType, removeFound, type Tx } from "../records/mod.ts";
import { hourMs, type Millis } from "../timestamp.ts";
import { type BatchImported, type ImportHolder, importCounts, noneImported } from "./import_store.ts";

/** How long an import is stored after its last change, in milliseconds. @internal */
export const importKeptFor = hourMs;

/** @internal */
export const uploads = recordType({
  name: "imports",
  fields: {
    id: Schema.String,
    /** No other import has the same text: see `uploadOf` and `droppedAs`. */
    account: Schema.String,
    /** The scope that receives the links; null while the file is read. */
    pid: Schema.NullOr(Pid),
    /**
     * - `reading`: a node receives and previews the file. If the node dies, the import is lost.
     * - `ready`: the import may start.
     * - `running`: a node imports the file. If the node dies, another one takes the import.
     * - `over`: the import ended.
     */
    phase: Schema.Literals(["reading", "ready", "running", "over"]),
    /** What the pages know of the import, as JSON; empty while the file is read. */
    details: Schema.String,
    ...importCounts,
    holder: Schema.String,
    heldUntil: Schema.Int,
    begunAt: Schema.Int,
    expiresAt: Schema.Int,
    /** The bytes of the files. */
    size: Schema.Int,
  },
  key: ["id"],
  indexes: {
    byAccount: { fields: ["account", "id"], group: 1 },
    newest: { fields: ["-begunAt", "id"], group: 0 },
    running: { fields: ["heldUntil", "id"], only: { field: "phase", values: ["running"] } },
    byEnd: { fields: ["expiresAt", "id"] },
  },
});

/** Parts of files, as Base64. @internal */
export const uploadParts = recordType({
  name: "import_parts",
  fields: { importId: Schema.String, file: Schema.String, part: Schema.Int, content: Schema.String },
  key: ["importId", "file", "part"],
  indexes: {},
  isLarge: true,
});

/** An import of an account, which has at most one besides one that is being read. */
export interface StoredImport extends Pick<Upload, "id" | "account" | "pid" | "phase" | "details"> {
  /** The sum of the batches that `ImportStore.importBatch` has stored. */
  readonly counts: BatchImported;
}

/** Makes the node the holder of an import until the time `until`, or gives the import up if `until` is `at`. */
export interface ImportHold extends ImportHolder {
  readonly at: Millis;
  readonly until: Millis;
}

export interface BeginImport extends ImportHold {
  readonly account: string;
  /**
   * The most bytes in the files of all imports. Beyond them, the largest imports that are not running are removed, of equal
   * ones the oldest, so that strangers with large files remove no small one.
   */
  readonly room: number;
}

export interface SaveImport extends ImportHold, Pick<StoredImport, "pid" | "phase" | "details"> {}

export interface ImportPart {
  /** The name of one of the import's files. */
  readonly file: string;
  /** The number of the part in the file, from 0. */
  readonly part: number;
}

/**
 * Stores uploaded imports and their files. Every operation but `sweep` is atomic, and text that `isStorable` refuses is a
 * defect. `LinkStore.deleteScope` removes the running imports of its scope.
 */
export class UploadStore extends Context.Service<
  UploadStore,
  {
    /**
     * Stores a new import, which is `reading` until `save` stores another phase. Returns false if the account's import is
     * running, or if a live node reads another one.
     */
    readonly begin: (begin: BeginImport) => StoreEffect<boolean>;

    /** Stores a part of a file; part 0 replaces the whole file. Returns false if the node does not hold the import. */
    readonly append: (
      holder: ImportHolder,
      part: ImportPart & { readonly bytes: Uint8Array },
    ) => StoreEffect<boolean>;

    readonly readPart: (id: string, part: ImportPart) => StoreEffect<Option.Option<Uint8Array>>;

    /** Finds the import of an account, unless it has expired or is being read. One that runs does not expire. */
    readonly find: (account: string, at: Millis) => StoreEffect<Option.Option<StoredImport>>;

    /**
     * Stores the state, and renews the hold. An import that has been read replaces the account's previous one. Returns false
     * if the node does not hold the import, or if the previous one is running.
     */
    readonly save: (save: SaveImport) => StoreEffect<boolean>;

    /** Makes a `ready` import run on the node. Returns false if the import is not ready, so that it starts once. */
    readonly start: (hold: ImportHold) => StoreEffect<boolean>;

    /** Takes a running import that no live node holds. */
    readonly take: (hold: Omit<ImportHold, "id">) => StoreEffect<Option.Option<StoredImport>>;

    /** Removes an import with its files, unless it is running. Returns whether it was removed. */
    readonly remove: (id: string) => StoreEffect<boolean>;

    /** Deletes removed and expired imports with their files, except those that run. */
    readonly sweep: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/UploadStore") {}

type Upload = RecordOf<typeof uploads>;

/** The account of an import that is being read, which replaces the account's import once it is. No name has a line feed. @internal */
export const uploadOf = (account: string): string => `upload\n${account}`;

const droppedAs = (id: string): string => `dropped ${id}`;

/** Leaves an import to the next sweep, since large files take long to delete. */
const drop = (tx: Tx, one: Upload) =>
  tx.put(uploads, {
    ...one,
    account: droppedAs(one.id),
    holder: "",
    phase: "over",
    details: "",
    expiresAt: 0,
    size: 0,
  });

/** Removes the imports of an account. @internal */
export const dropUploads = Effect.fnUntraced(function* (tx: Tx, account: string) {
  for (const name of [account, uploadOf(account)])
    for (const one of yield* tx.list(uploads.byAccount, [name])) yield* drop(tx, one);
});

/** Removes the running import of a scope. @internal */
export const dropRunning = Effect.fnUntraced(function* (tx: Tx, pid: Pid) {
  const known = (yield* tx.scopes([pid])).get(pid);
  if (known === undefined) return;
  for (const { id } of yield* tx.list(uploads.byAccount, [known.scope.account])) {
    const one = yield* tx.get(uploads, id);
    if (one?.pid === pid && one.phase === "running") yield* drop(tx, one);
  }
});

/** @internal */
export const findHeld = Effect.fnUntraced(function* (tx: Tx, { id, node }: ImportHolder) {
  const found = yield* tx.get(uploads, id);
  return found?.holder === node ? found : undefined;
});

/** An import that runs does not expire: all nodes may be down for long, or rest. */
const hasExpired = ({ phase, expiresAt }: Upload, at: Millis): boolean =>
  phase !== "running" && expiresAt <= at;

const keep = Effect.fnUntraced(function* (tx: Tx, id: string, at: Millis) {
  const found = yield* tx.get(uploads, id);
  if (found?.phase === "running") yield* tx.put(uploads, { ...found, expiresAt: at + importKeptFor });
});

const storedOf = (one: Upload): StoredImport => ({
  ...Struct.pick(one, ["id", "account", "pid", "phase", "details"]),
  counts: Struct.pick(one, Struct.keys(importCounts)),
});

const heldBy = ({ node, at, until }: Omit<ImportHold, "id">) => ({
  holder: node,
  heldUntil: until,
  expiresAt: at + importKeptFor,
});

/** The queue of writes, except of parts: a new import may remove any other. */
const queue = "all imports";

/** The parts that a write deletes. */
const partsOfStep = 4;

/** Stores uploaded imports in any storage. @internal */
export const storedUploads = recordStore(UploadStore, ({ read, write, removeBefore, mostWritten }) => {
  const deleteParts = Effect.fnUntraced(function* (
    name: "append" | "sweep",
    id: string,
    file: ReadonlyArray<string> = [],
  ) {
    for (;;) {
      const left = yield* read(name, (tx) =>
        tx.list(uploadParts.byKey, [id, ...file], { limit: partsOfStep }),
      );
      if (left.length === 0) return;
      yield* write(name, id, (tx) => removeFound(uploadParts)(tx, left));
    }
  });

  return {
    begin: ({ id, account, room, ...hold }) =>
      write("begin", queue, function* (tx) {
        const { at } = hold;
        const names = new Set([account, uploadOf(account)]);
        let [total, dropped, isBusy] = [0, 0, false];
        const newest = yield* tx.list(uploads.newest, []);
        for (const one of newest.toSorted((first, second) => first.size - second.size)) {
          const isTheirs = names.has(one.account);
          const isLost = hasExpired(one, at) || (one.phase === "reading" && one.heldUntil <= at);
          total += isTheirs && isLost ? 0 : one.size;
          const isBeyond = total > room && one.phase !== "running";
          // The next import makes further room.
          if (isTheirs ? isLost || isBeyond : isBeyond && dropped++ < mostWritten) yield* drop(tx, one);
          else if (isTheirs && (one.phase === "running" || one.phase === "reading")) isBusy = true;
        }
        if (isBusy) return false;
        const empty = { ...noneImported, pid: null, details: "", size: 0 };
        const begun = { ...empty, ...heldBy(hold), begunAt: at, phase: "reading" } as const;
        yield* tx.create(uploads, { id, account: uploadOf(account), ...begun });
        return true;
      }),

    append: Effect.fnUntraced(function* (holder, { file, part, bytes }) {
      const { id } = holder;
      if ((yield* read("append", (tx) => findHeld(tx, holder))) === undefined) return false;
      if (part === 0) yield* deleteParts("append", id, [file]);
      return yield* write("append", id, function* (tx) {
        const held = yield* findHeld(tx, holder);
        if (held === undefined) return false;
        yield* tx.put(uploads, { ...held, size: held.size + bytes.length });
        yield* tx.create(uploadParts, { importId: id, file, part, content: Base64.encode(bytes) });
        return true;
      });
    }),

    readPart: (id, { file, part }) =>
      read("readPart", function* (tx) {
        const found = yield* tx.get(uploads, id);
        if (found === undefined || found.account === droppedAs(id)) return Option.none();
        const stored = yield* tx.get(uploadParts, id, file, part);
        return Option.map(Option.fromUndefinedOr(stored), ({ content }) =>
          Result.getOrThrow(Base64.decode(content)),
        );
      }),

    find: (account, at) =>
      read("find", function* (tx) {
        const found = yield* tx.list(uploads.byAccount, [account]);
        const shown = Arr.findFirst(found, (one) => one.phase !== "reading" && !hasExpired(one, at));
        return Option.map(shown, storedOf);
      }),

    save: ({ id, pid, phase, details, ...hold }) =>
      write("save", queue, function* (tx) {
        const held = yield* findHeld(tx, { id, node: hold.node });
        if (held === undefined) return false;
        const isRead = phase !== "reading" && held.account.startsWith(uploadOf(""));
        const account = isRead ? held.account.slice(uploadOf("").length) : held.account;
        for (const one of isRead ? yield* tx.list(uploads.byAccount, [account]) : []) {
          if (one.phase === "running") return false;
          yield* drop(tx, one);
        }
        yield* tx.put(uploads, { ...held, account, pid, phase, details, ...heldBy(hold) });
        return true;
      }),

    start: ({ id, ...hold }) =>
      write("start", queue, function* (tx) {
        const found = yield* tx.get(uploads, id);
        if (found?.phase !== "ready") return false;
        yield* tx.put(uploads, { ...found, ...heldBy(hold), phase: "running" });
        return true;
      }),

    take: Effect.fnUntraced(function* (hold) {
      const bounds = { before: [hold.at + 1], limit: 1 };
      const [free] = yield* read("take", (tx) => tx.list(uploads.running, [], bounds));
      // Usually there is nothing to take, so nothing is written.
      if (free === undefined) return Option.none();
      return yield* write("take", queue, function* (tx) {
        const found = yield* tx.get(uploads, free.id);
        if (found?.phase !== "running" || found.heldUntil > hold.at) return Option.none();
        yield* tx.put(uploads, { ...found, ...heldBy(hold) });
        return Option.some(storedOf(found));
      });
    }),

    remove: (id) =>
      write("remove", queue, function* (tx) {
        const found = yield* tx.get(uploads, id);
        if (found === undefined || found.phase === "running" || found.account === droppedAs(id)) return false;
        yield* drop(tx, found);
        return true;
      }),

    sweep: Effect.fnUntraced(function* (at) {
      const old = yield* read("sweep", (tx) => tx.list(uploads.byEnd, [], { before: [at + 1] }));
      for (const { id, phase } of old)
        yield* phase === "running"
          ? write("sweep", queue, (tx) => keep(tx, id, at))
          : deleteParts("sweep", id);
      yield* removeBefore("sweep", uploads.byEnd, [at + 1]);
    }),
  };
});
