/** Imports of uploaded files, and their files. */
import type { ImportHolder, StoredImport } from "@accountlink/core/imports";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";

export interface KeptImport extends StoredImport {
  readonly holder: string;
  readonly heldUntil: Millis;
  readonly begunAt: Millis;
  readonly expiresAt: Millis;
  /** The files by name: the number of their parts, and their bytes. */
  readonly files: Readonly<Record<string, { readonly parts: number; readonly size: number }>>;
}

/** `deleteLostFiles` deletes the files of an import after its record. */
export const imports = table<KeptImport>()(
  "import",
  ({ id }) => [id],
  {
    byAccount: { keys: ({ id, account }) => [[account, id]], group: 1 },
    running: {
      keys: ({ id, phase, pid, heldUntil }) => (phase === "running" ? [[heldUntil, id, pid ?? ""]] : []),
    },
    ofScope: {
      keys: ({ id, phase, pid }) => (phase === "running" && pid !== null ? [[pid, id]] : []),
      group: 1,
    },
    byEnd: { keys: ({ id, expiresAt }) => [[expiresAt, id]] },
  },
  0,
);

/** A part of a file, as base64. */
interface FilePart {
  readonly id: string;
  readonly file: string;
  readonly part: number;
  readonly text: string;
}

export const fileParts = table<FilePart>()("part_of_file", ({ id, file, part }) => [id, file, part], {});

/** Finds an import that the node holds. */
export const findHeld = Effect.fnUntraced(function* (tx: Transaction, { id, node }: ImportHolder) {
  const found = yield* tx.get(imports, id);
  return found?.holder === node ? found : undefined;
});

/** Deletes the files of imports that are gone. */
export const deleteLostFiles = Effect.fnUntraced(function* (db: Database) {
  let after: string | null = null;
  for (;;) {
    const next: FilePart | undefined = yield* db.read(function* (tx) {
      const options = { ...(after !== null && { after: [after] }), limit: 1 };
      return (yield* tx.scan(fileParts, [], options))[0];
    });
    if (next === undefined) return;
    const id = next.id;
    const kept = yield* db.read((tx) => tx.get(imports, id));
    if (kept === undefined) yield* deleteFile(db, [id]);
    after = id;
  }
});

/** The parts that one transaction deletes. */
const partSize = 4;

/** Deletes the parts of an import, or of one of its files. */
export const deleteFile = Effect.fnUntraced(function* (
  db: Database,
  file: readonly [id: string] | readonly [id: string, file: string],
) {
  for (;;) {
    const left = yield* db.read((tx) => tx.scan(fileParts, file, { limit: partSize }));
    if (left.length === 0) return;
    yield* db.write(file[0], function* (tx) {
      for (const part of left) yield* tx.remove(fileParts, ...fileParts.id(part));
    });
  }
});
