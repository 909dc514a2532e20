/** The undo of imports. */
import { ChatId, Pid } from "@accountlink/core";
import {
  firstOfEach,
  type ImportUndone,
  type UndoableImport,
  type UndoablePage,
  type UndoImport,
  undoableFor,
  undoableImports,
} from "@accountlink/core/imports";
import { importUndone } from "@accountlink/core/journal";
import { noTime } from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { Statement } from "effect/sql";
import { insertPart } from "../journal/records.ts";
import { admissionOn } from "../links/admitted_links.ts";
import { deleteInBatches } from "../statements/in_batches.ts";
import { columnReader, OptionalText, tableOf, type ValuesOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { linkImports, readImports } from "./import_records.ts";

const readChatIds = columnReader("import_links", "chat_id", Schema.String);

const readTakenBack = tableOf("links", { chat_id: ChatId, game_id: OptionalText }).reader((row) => row);

const readIds = columnReader("link_imports", "id", Schema.String);

const readCounts = columnReader("import_links", "count", Schema.Int);

const looked = {
  chat_id: ChatId,
  is_untouched: Schema.Int,
  is_removed: Schema.Int,
  given: OptionalText,
};

const readLooked = tableOf("import_links", looked).reader((row) => row);

/**
 * Returns the links that an undo takes back. If it would give a game user to several chat users, the first of them gets
 * the game user.
 */
const undoneAmong = (found: ReadonlyArray<ValuesOf<typeof looked>>) =>
  firstOfEach(
    found.filter(({ is_untouched }) => is_untouched === 1),
    ({ given }) => given,
  );

const readUnfinished = tableOf("link_imports", {
  id: Schema.String,
  pid: Pid,
  account: Schema.String,
  done: Schema.Int,
}).reader((row) => row);

export const importUndoOn = (parts: StoreParts) => {
  const { sql, operation, bulkTransaction, forUpdate, isAmong } = parts;
  const { lock } = admissionOn(sql);
  const isUntouched = sql.literal(`links.game_id = import_links.game_id
    AND links.link_version = import_links.link_version AND links.last_verified_at = import_links.verified_at
    AND (import_links.previous_game_id IS NULL
      OR NOT EXISTS (SELECT 1 FROM blocks WHERE pid = links.pid AND chat_id = links.chat_id)
      AND NOT EXISTS (SELECT 1 FROM blocks WHERE pid = links.pid AND game_id = import_links.previous_game_id)
      AND NOT EXISTS (SELECT 1 FROM scopes JOIN links AS other ON other.pid = scopes.pid
        WHERE scopes.pid = links.pid AND one_chat_user = 1 AND other.chat_id <> links.chat_id
          AND other.game_id = import_links.previous_game_id AND other.game_id <> links.game_id))`);

  /** Looks at links of an import. `given` is the game user that an undo gives back in a scope that allows one chat user. */
  const lookedAt = (id: string, rows: Statement.Fragment) =>
    readLooked(sql`
      SELECT import_links.chat_id AS chat_id,
        CASE WHEN links.chat_id IS NULL THEN 0 ELSE 1 END AS is_untouched,
        CASE WHEN import_links.previous_game_id IS NULL THEN 1 ELSE 0 END AS is_removed,
        CASE WHEN links.game_id <> import_links.previous_game_id
          AND (SELECT one_chat_user FROM scopes WHERE pid = links.pid) = 1
          THEN import_links.previous_game_id END AS given
      FROM import_links LEFT JOIN links ON links.chat_id = import_links.chat_id AND ${isUntouched}
        AND links.pid = (SELECT pid FROM link_imports WHERE id = ${id})
      WHERE import_id = (SELECT id FROM link_imports WHERE id = ${id} AND ends_at > 0)
        AND import_links.chat_id ${rows}`);

  const hasLinks = sql.literal(`(undo_entry IS NOT NULL
    OR EXISTS (SELECT 1 FROM import_links WHERE import_id = link_imports.id))`);

  /**
   * The imports of a day that can be undone: the last ones of each scope that were not undone, and those whose undo has
   * begun.
   */
  const undoable = (at: Millis, condition: Statement.Fragment) => sql`
    SELECT id FROM (
      SELECT id, undo_entry,
        ROW_NUMBER() OVER (PARTITION BY pid, undo_entry IS NULL ORDER BY imported_at DESC, id) AS place
      FROM link_imports WHERE ends_at > ${at} AND ${hasLinks} AND ${condition}
    ) AS placed WHERE undo_entry IS NOT NULL OR place <= ${undoableImports}`;

  /** The version of a record before `made`, the row of an import, changed it: the record had the game user `given`. */
  const versionBefore = (made: string, given = "own.previous_game_id") =>
    sql.literal(`(${made}.link_version - CASE WHEN ${made}.game_id = ${given} THEN 0 ELSE 1 END)`);

  /**
   * Joins the imports before and after an undone one, as `joinedNeighbours` does, while the rows of the undone one are
   * there.
   *
   * @param taken the chat users of the undone rows, as a JSON array
   * @param undone those whose link was taken back
   */
  const joinNeighbours = Effect.fnUntraced(function* (
    { id, pid }: UndoImport,
    taken: string,
    undone: ReadonlyArray<string>,
  ) {
    const others = yield* readIds(
      sql`SELECT id FROM link_imports WHERE pid = ${pid} AND id <> ${id} AND ends_at > 0`,
    );
    if (others.length === 0) return;
    const isOther = isAmong(JSON.stringify(others));
    const own = (chatIds: string) => sql`own.import_id = ${id} AND own.chat_id ${isAmong(chatIds)}`;
    const isEarlier = sql`earlier.import_id ${isOther} AND earlier.chat_id = own.chat_id
      AND earlier.link_version <= ${versionBefore("own")}`;
    const isLater = sql`later.import_id ${isOther} AND later.chat_id = own.chat_id
      AND later.previous_game_id = own.game_id AND later.previous_verified_at = own.verified_at
      AND own.link_version = ${versionBefore("later", "later.previous_game_id")}`;
    yield* sql`
      UPDATE import_links AS earlier
      SET link_version = earlier.link_version + links.link_version - ${versionBefore("own")}
      FROM import_links AS own, links
      WHERE ${own(JSON.stringify(undone))} AND ${isEarlier} AND links.pid = ${pid} AND links.chat_id = own.chat_id`;
    yield* sql`
      UPDATE import_links AS earlier
      SET link_version = earlier.link_version + ${versionBefore("later")} - ${versionBefore("own")}
      FROM import_links AS own, import_links AS later
      WHERE ${own(taken)} AND ${isEarlier} AND ${isLater}`;
    yield* sql`
      UPDATE import_links AS later SET previous_game_id = own.previous_game_id,
        previous_linked_at = own.previous_linked_at, previous_verified_at = own.previous_verified_at,
        previous_proof = own.previous_proof, previous_proven_at = own.previous_proven_at
      FROM import_links AS own
      WHERE ${own(taken)} AND ${isLater}`;
  });

  const logUndo = Effect.fnUntraced(function* (
    write: UndoImport,
    added: Pick<ImportUndone, "removed" | "restored">,
  ) {
    const { pid, id } = write;
    const [sum] = yield* readImports(sql`
      UPDATE link_imports SET removed = removed + ${added.removed}, restored = restored + ${added.restored}
      WHERE id = ${id} RETURNING ${linkImports.columns}`);
    if (sum === undefined) return;
    const { removed, restored, undo_entry: first } = sum;
    const count = added.removed + added.restored;
    const record = importUndone(write, count, { file: sum.name, removed, restored });
    const entry = yield* insertPart(sql, pid, record, first);
    if (first === null) yield* sql`UPDATE link_imports SET undo_entry = ${entry} WHERE id = ${id}`;
  });

  return {
    listUndoable: operation("listUndoable", (account: string, at: Millis) =>
      Effect.map(
        readImports(sql`
          SELECT ${linkImports.columns} FROM link_imports
          WHERE id IN (${undoable(at, sql`pid IN (SELECT pid FROM scopes WHERE account = ${account})`)})
          ORDER BY imported_at DESC, id`),
        (found): ReadonlyArray<UndoableImport> =>
          found.map(({ id, pid, name, undo_entry: entry, ...row }) => ({
            id,
            pid,
            name,
            importedAt: row.imported_at,
            endsAt: row.ends_at,
            links: row.inserted + row.replaced,
            undone: entry === null ? null : { removed: row.removed, restored: row.restored },
          })),
      ),
    ),

    listUnfinishedUndos: operation("listUnfinishedUndos", (at: Millis) =>
      readUnfinished(sql`
        SELECT id, link_imports.pid AS pid, account, removed + restored AS done
        FROM link_imports JOIN scopes ON scopes.pid = link_imports.pid
        WHERE undo_entry IS NOT NULL AND ends_at > ${at}
          AND EXISTS (SELECT 1 FROM import_links WHERE import_id = link_imports.id)`),
    ),

    undoablePage: operation("undoablePage", function* (id: string, after: ChatId | null, limit: number) {
      assertStorable([id]);
      const found = yield* lookedAt(id, sql`> ${after ?? ""} ORDER BY import_links.chat_id LIMIT ${limit}`);
      return {
        links: undoneAmong(found).map(({ chat_id, is_removed }) => ({
          chatId: chat_id,
          isRemoved: is_removed === 1,
        })),
        next: found.length < limit ? null : (found.at(-1)?.chat_id ?? null),
      } satisfies UndoablePage;
    }),

    countChanges: operation("countChanges", function* (account: string, at: Millis) {
      const [count = 0] = yield* readCounts(sql`
        SELECT CAST(COALESCE(SUM(inserted + replaced + removed + restored), 0) AS INTEGER) AS count FROM link_imports
        WHERE pid IN (SELECT pid FROM scopes WHERE account = ${account}) AND imported_at > ${at - undoableFor}`);
      return count;
    }),

    undo: bulkTransaction("undo", function* (write: UndoImport) {
      const { id, pid, at, limit } = write;
      assertStorable([id]);
      const { oneChatUser } = yield* lock(pid);
      const own = sql`SELECT id FROM (${undoable(at, sql`pid = ${pid}`)}) AS own WHERE id = ${id}`;
      if ((yield* own).length === 0) return { removed: 0, restored: 0, isDone: true };
      const taken = yield* readChatIds(sql`
        SELECT chat_id FROM import_links WHERE import_id = ${id} ORDER BY chat_id LIMIT ${limit}`);
      const chatIds = JSON.stringify(taken);
      yield* sql`
        SELECT chat_id FROM links WHERE pid = ${pid} AND chat_id ${isAmong(chatIds)} ORDER BY chat_id ${forUpdate}`;
      const ofTaken = sql`${isAmong(chatIds)} ORDER BY import_links.chat_id`;
      const undone = oneChatUser
        ? undoneAmong(yield* lookedAt(id, ofTaken)).map((one) => one.chat_id)
        : taken;
      const isUndone = isAmong(JSON.stringify(undone));
      const links = yield* readTakenBack(sql`
        UPDATE links SET
          previous_game_id = links.game_id,
          removed_linked_at = NULL,
          game_id = import_links.previous_game_id,
          link_version = links.link_version
            + CASE WHEN links.game_id = import_links.previous_game_id THEN 0 ELSE 1 END,
          linked_at = CASE
            WHEN import_links.previous_verified_at IS NULL THEN ${sql.literal(String(noTime))}
            WHEN import_links.previous_linked_at IS NOT NULL THEN import_links.previous_linked_at
            WHEN links.game_id = import_links.previous_game_id THEN links.linked_at
            ELSE ${at}
          END,
          last_verified_at = COALESCE(import_links.previous_verified_at, 0),
          proof = CASE WHEN import_links.previous_verified_at IS NULL THEN links.proof
            ELSE import_links.previous_proof END,
          proven_at = import_links.previous_proven_at
        FROM import_links
        WHERE import_links.import_id = ${id} AND import_links.chat_id ${isUndone}
          AND import_links.chat_id = links.chat_id AND links.pid = ${pid} AND links.chat_id ${isUndone} AND ${isUntouched}
        RETURNING links.chat_id, links.game_id`);
      yield* joinNeighbours(
        write,
        chatIds,
        links.map((one) => one.chat_id),
      );
      yield* sql`DELETE FROM import_links WHERE import_id = ${id} AND chat_id ${isAmong(chatIds)}`;
      const removed = links.filter((one) => one.game_id === null).length;
      const restored = links.length - removed;
      if (links.length > 0) yield* logUndo(write, { removed, restored });
      return { removed, restored, isDone: taken.length < limit };
    }),

    /** Removes what undoes imports after its time, a few rows at a time, since one writer waits for another. */
    sweep: operation("sweep", function* (at: number) {
      const over = sql`import_id IN (SELECT id FROM link_imports WHERE id NOT IN (${undoable(at, sql`1 = 1`)}))`;
      yield* deleteInBatches(sql, {
        table: "import_links",
        primaryKey: ["import_id", "chat_id"],
        order: "import_id",
        condition: over,
      });
      yield* sql`DELETE FROM link_imports WHERE imported_at <= ${at - undoableFor}`;
    }),
  };
};
