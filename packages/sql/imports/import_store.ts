import {
  type ImportHold,
  type ImportHolder,
  type ImportPhase,
  ImportStore,
  importKeptFor,
  type StoredImport,
} from "@accountlink/core/imports";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Option, Result, Schema } from "effect";
import { Base64 } from "effect/encoding";
import { deleteFiles, dropImports, isDropped, uploadOf } from "../import_files/dropped_imports.ts";
import { columnReader, literalsOf, OptionalText, tableOf } from "../statements/row.ts";
import { rollBack, storeLayer } from "../statements/store_operation.ts";
import { batchImportOn, ended } from "./import_batch.ts";
import { importUndoOn } from "./import_undo.ts";

const imports = tableOf("imports", {
  id: Schema.String,
  account: Schema.String,
  pid: OptionalText,
  phase: literalsOf<ImportPhase>({ reading: true, ready: true, running: true, over: true }),
  details: Schema.String,
  inserted: Schema.Int,
  replaced: Schema.Int,
  unchanged: Schema.Int,
  kept: Schema.Int,
});

const readImports = imports.reader(
  ({ id, account, pid, phase, details, ...counts }) =>
    ({ id, account, pid, phase, details, counts }) as StoredImport,
);

const readPositions = columnReader("import_progress", "position", Schema.Int);

const readContents = columnReader("import_parts", "content", Schema.String);

export const layer = storeLayer(ImportStore)((parts) => {
  const { sql, operation, transaction, bulkTransaction, asStep, wrote } = parts;
  const batchImport = batchImportOn(parts);
  const { sweepUndo, ...undo } = importUndoOn(parts);
  const sweepImports = operation("sweep", function* (at: number) {
    const isOver = sql`expires_at <= ${at}`;
    yield* deleteFiles(sql, isOver);
    yield* asStep(sql`DELETE FROM imports WHERE ${isOver}`);
  });
  const isHeld = ({ id, node }: ImportHolder) => sql`id = ${id} AND holder = ${node}`;
  const holding = ({ node, at, until }: Omit<ImportHold, "id">) =>
    sql`holder = ${node}, held_until = ${until}, expires_at = ${at + importKeptFor}`;

  return {
    begin: transaction("begin", function* ({ id, node, at, until, account, room }) {
      assertStorable([id, node, account]);
      const upload = uploadOf(account);
      const isLost = sql`expires_at <= ${at} OR (phase = 'reading' AND held_until <= ${at})`;
      yield* dropImports(sql, sql`account IN (${account}, ${upload}) AND (${isLost})`);
      const beyondRoom = sql`
        phase <> 'running' AND id IN (
          SELECT id FROM (
            SELECT id, SUM(size) OVER (ORDER BY begun_at DESC, id) AS total FROM imports
          ) AS sizes WHERE total > ${room})`;
      yield* dropImports(sql, beyondRoom);
      // Nodes of the release before read a file as the account's import.
      const isBusy = sql`account = ${account} AND phase IN ('running', 'reading')`;
      if ((yield* readImports(sql`SELECT ${imports.columns} FROM imports WHERE ${isBusy}`)).length > 0)
        return false;
      return yield* wrote(sql`
        INSERT INTO imports ${sql.insert({
          id,
          account: upload,
          pid: null,
          phase: "reading",
          details: "",
          inserted: 0,
          replaced: 0,
          unchanged: 0,
          kept: 0,
          holder: node,
          held_until: until,
          begun_at: at,
          expires_at: at + importKeptFor,
          size: 0,
        })} ON CONFLICT (account) DO NOTHING`);
    }),

    append: bulkTransaction("append", function* (holder, { file, part, bytes }) {
      assertStorable([file]);
      const held = sql`UPDATE imports SET size = size + ${bytes.length} WHERE ${isHeld(holder)}`;
      if (!(yield* wrote(held))) return false;
      const { id } = holder;
      if (part === 0) yield* sql`DELETE FROM import_parts WHERE import_id = ${id} AND file = ${file}`;
      const content = Base64.encode(bytes);
      yield* sql`INSERT INTO import_parts ${sql.insert({ import_id: id, file, part, content })}`;
      return true;
    }),

    readPart: operation("readPart", (id, { file, part }) =>
      Effect.map(
        readContents(sql`
          SELECT content FROM import_parts WHERE import_id = ${id} AND file = ${file} AND part = ${part}
            AND EXISTS (SELECT 1 FROM imports WHERE id = import_id AND NOT (${isDropped}))`),
        (found) => Option.map(Arr.head(found), (content) => Result.getOrThrow(Base64.decode(content))),
      ),
    ),

    find: operation("find", (account, at) =>
      Effect.map(
        readImports(
          sql`SELECT ${imports.columns} FROM imports WHERE account = ${account} AND expires_at > ${at}`,
        ),
        Arr.head,
      ),
    ),

    save: transaction("save", function* ({ pid, phase, details, ...hold }) {
      const state = sql`pid = ${pid}, phase = ${phase}, details = ${details}, ${holding(hold)}`;
      const [held] = yield* readImports(sql`SELECT ${imports.columns} FROM imports WHERE ${isHeld(hold)}`);
      if (held === undefined || phase === "reading" || !held.account.startsWith(uploadOf("")))
        return yield* wrote(sql`UPDATE imports SET ${state} WHERE ${isHeld(hold)}`);
      const account = held.account.slice(uploadOf("").length);
      yield* dropImports(sql, sql`account = ${account} AND phase <> 'running'`);
      const isRunning = sql`EXISTS (SELECT 1 FROM imports WHERE account = ${account})`;
      return yield* wrote(sql`
        UPDATE imports SET account = ${account}, ${state} WHERE ${isHeld(hold)} AND NOT ${isRunning}`);
    }),

    start: operation("start", (hold) =>
      wrote(sql`
        UPDATE imports SET phase = 'running', ${holding(hold)} WHERE id = ${hold.id} AND phase = 'ready'`),
    ),

    take: operation("take", function* (hold) {
      const isFree = sql`phase = 'running' AND held_until <= ${hold.at}`;
      // Usually there is nothing to take, so nothing is written.
      const [free] = yield* readImports(sql`SELECT ${imports.columns} FROM imports WHERE ${isFree} LIMIT 1`);
      if (free === undefined) return Option.none();
      const taken = sql`
        UPDATE imports SET ${holding(hold)} WHERE id = ${free.id} AND ${isFree} RETURNING ${imports.columns}`;
      return Arr.head(yield* readImports(taken));
    }),

    importBatch: bulkTransaction("importBatch", function* (batch) {
      const { holder } = batch;
      const counts = yield* batchImport(batch);
      if (holder === undefined) return counts;
      const { inserted, replaced, unchanged, kept } = counts;
      const added = sql`
        UPDATE imports SET inserted = inserted + ${inserted}, replaced = replaced + ${replaced},
          unchanged = unchanged + ${unchanged}, kept = kept + ${kept}
        WHERE ${isHeld(holder)}`;
      return (yield* wrote(added)) ? counts : yield* rollBack(ended);
    }),

    importPosition: operation("importPosition", function* (source) {
      assertStorable([source]);
      const [position = 0] = yield* readPositions(
        sql`SELECT position FROM import_progress WHERE source = ${source}`,
      );
      return position;
    }),

    remove: operation("remove", (id) =>
      Effect.map(dropImports(sql, sql`id = ${id} AND phase <> 'running'`), (dropped) => dropped > 0),
    ),

    ...undo,

    sweep: (at) => Effect.andThen(sweepImports(at), sweepUndo(at)),
  };
});
