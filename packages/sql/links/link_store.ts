import { LinkStore, type Pid } from "@accountlink/core";
import { followRestored } from "@accountlink/core/imports";
import { linkMoved, linkSet } from "@accountlink/core/journal";
import {
  type ChatMoved,
  isLinked,
  keptMove,
  keptRemoval,
  type Link,
  linkProofs,
  type MoveChat,
  type RemoveGame,
  type RestoreGame,
} from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import type { Statement } from "effect/sql";
import { insertRecord } from "../journal/records.ts";
import { withTx } from "../records.ts";
import { keyedStepOn, orConflict } from "../statements/keyed_write.ts";
import { literalSql, readerOf } from "../statements/row.ts";
import { type Ending, storeLayer } from "../statements/store_operation.ts";
import { admissionOn } from "./admitted_links.ts";
import {
  isId,
  isWhole,
  linkLookups,
  readRecords,
  readRecordValues,
  readSets,
  recordColumns,
  valuesOn,
} from "./link_lookups.ts";
import { linkRemovalOn } from "./link_removal.ts";
import { linkStatements, relinkOf } from "./link_statements.ts";
import { linkSteps } from "./link_steps.ts";
import { scopeDeletionOn } from "./scope_deletion.ts";
import { setGameOn } from "./set_game.ts";

export const layer = storeLayer(LinkStore)((parts) => {
  const { sql, connection, operation, transaction } = parts;
  const keyedStep = keyedStepOn(parts);
  const steps = linkSteps(sql);
  const removeLink = linkRemovalOn(sql);
  const { link, unlink, restore, lock, lockScope, placeholder, removePlaceholder } = linkStatements(sql);
  const values = valuesOn(connection);
  const admission = admissionOn(sql);
  const linksOf = (pid: Pid, by = "") =>
    sql`FROM links ${sql.literal(by)} WHERE pid = ${pid} AND game_id IS NOT NULL`;
  // Without the name of the index, SQLite searches all links of the scope for the links of one time.
  const byTime = parts.isRemote ? "" : "INDEXED BY links_by_verification";

  const notImported = sql.literal("AND (proof IS NULL OR proof <> 'import')");

  /** Counts links in steps by chat user. `rows` selects them, and `counts` what each step counts. */
  const countSteps = Effect.fnUntraced(function* (
    rows: Statement.Fragment,
    counts: Statement.Fragment,
    add: (counts: ReadonlyArray<number>) => void,
  ) {
    for (let after: string | null = ""; after !== null; ) {
      const [step]: ReadonlyArray<CountStep> = yield* readCountSteps(
        values(sql`
          SELECT CASE WHEN COUNT(*) = ${countStep} THEN MAX(chat_id) END, ${counts}
          FROM (${rows} AND chat_id > ${after} ORDER BY chat_id LIMIT ${countStep}) AS step`),
      );
      add(step?.counts ?? []);
      after = step?.last ?? null;
      yield* Effect.yieldNow;
    }
  });

  const removeGame = keyedStep("removeGame", keptRemoval, steps.remove, function* (write: RemoveGame) {
    return Option.fromNullOr(yield* removeLink(write));
  });

  const moveChat = keyedStep("moveChat", keptMove, steps.move, function* (write: MoveChat): Effect.fn.Return<
    ChatMoved,
    Ending
  > {
    const { pid, oldChatId, newChatId, at } = write;
    const marks = yield* admission.lock(pid);
    // Lock the user with the smaller chat ID first. A user without a record can only be locked by an insert.
    if (newChatId < oldChatId) yield* placeholder(pid, newChatId, oldChatId, at);
    const records = yield* readRecords(lock(pid, oldChatId, newChatId));
    const old = records.find(({ chatId }) => chatId === oldChatId);
    if (old === undefined || !isLinked(old)) {
      yield* removePlaceholder(pid, newChatId);
      return { _tag: "NoLink" };
    }
    const { gameId } = old;
    if (newChatId === oldChatId) return { _tag: "Unchanged", gameId };
    const moved = { pid, chatId: newChatId, gameId, chatHash: write.chatHash };
    yield* admission.refuse(marks, moved, oldChatId);
    // A new user without a record could not be locked, and may have been linked since. So the condition lets this
    // statement write only if the user has no link.
    const onlyUnlinked = sql`${relinkOf(sql)} WHERE links.game_id IS NULL`;
    const [linked] = yield* readSets(
      link({ pid, chatId: newChatId, gameId, at, proof: "hand", existing: onlyUnlinked }),
    );
    if (linked === undefined) return { _tag: "Occupied" };
    yield* unlink(pid, oldChatId, at);
    yield* insertRecord(sql, pid, linkMoved(write, linked.record, oldChatId));
    return { _tag: "Moved", gameId };
  });

  const restoreGame = transaction("restoreGame", function* (write: RestoreGame): Effect.fn.Return<
    Option.Option<Link>,
    Ending
  > {
    const { pid, chatId, gameId, removedAt } = write;
    yield* admission.refuse(yield* admission.lock(pid), write);
    const [set] = yield* readSets(restore(pid, chatId, gameId, removedAt));
    if (set === undefined) return Option.none();
    yield* withTx(sql, (tx) => followRestored(tx, pid, set.record), true);
    yield* insertRecord(sql, pid, linkSet({ ...write, via: "restore" }, set));
    return Option.some(set.record);
  });

  return {
    ...linkLookups(parts),

    /**
     * Counts the links in steps, from the latest verification to the earliest, because one long SQLite statement would
     * block the process.
     */
    countLinks: operation("countLinks", function* (pid, { verified, enough } = {}) {
      const { from, before } = verified ?? { from: 0, before: Number.MAX_SAFE_INTEGER };
      const kind = verified === undefined ? sql.literal("") : notImported;
      const verifiedIn = (start: Millis, end: Millis) =>
        sql`${linksOf(pid)} AND last_verified_at < ${end} AND last_verified_at >= ${start} ${kind}`;
      if (enough !== undefined) {
        const some = sql`SELECT 1 ${verifiedIn(from, before)} ORDER BY last_verified_at DESC LIMIT ${enough}`;
        return (yield* readNumbers(values(sql`SELECT COUNT(*) FROM (${some}) AS counted`)))[0] ?? 0;
      }
      let links = 0;
      let end: Millis | undefined = before;
      while (end !== undefined) {
        // When the link after this step was last verified.
        const [next]: ReadonlyArray<Millis> = yield* readNumbers(
          values(sql`
            SELECT last_verified_at ${verifiedIn(from, end)}
            ORDER BY last_verified_at DESC LIMIT 1 OFFSET ${countStep}`),
        );
        const start = next === undefined ? from : next + 1;
        links += (yield* readNumbers(values(sql`SELECT COUNT(*) ${verifiedIn(start, end)}`)))[0] ?? 0;
        if (next !== undefined) {
          // An import can give many links the same time.
          const atTime = sql`SELECT chat_id ${linksOf(pid, byTime)} AND last_verified_at = ${next} ${kind}`;
          yield* countSteps(atTime, sql`COUNT(*)`, ([count = 0]) => (links += count));
        }
        end = next;
        yield* Effect.yieldNow;
      }
      return links;
    }),

    countWays: operation("countWays", function* (pid, since) {
      const counts = linkProofs.map((proof) => ({ proof, links: 0, recent: 0 }));
      const rows = sql`
        SELECT chat_id, proof, COALESCE(proven_at, last_verified_at) >= ${since} AS is_recent ${linksOf(pid)}`;
      yield* countSteps(rows, wayCounts, (found) => {
        for (const [index, count] of counts.entries()) {
          count.links += found[2 * index] ?? 0;
          count.recent += found[2 * index + 1] ?? 0;
        }
      });
      return counts.filter(({ links }) => links > 0);
    }),

    newestPage: operation("newestPage", function* (pid, place, limit, direction = "older") {
      const isOlder = place === null || direction === "older";
      const [order, behind, beyond] = isOlder
        ? (["last_verified_at DESC, chat_id", ">", "<"] as const)
        : (["last_verified_at, chat_id DESC", "<", ">"] as const);
      const read = (condition: Statement.Fragment, most: number) =>
        readRecordValues(
          values(sql`
            SELECT ${recordColumns} ${linksOf(pid)} ${condition} ORDER BY ${sql.literal(order)} LIMIT ${most}`),
        );
      if (place === null) return (yield* read(sql``, limit)).filter(isLinked);
      const { lastVerifiedAt: time, chatId } = place;
      const first = yield* read(
        sql`AND last_verified_at = ${time} AND chat_id ${sql.literal(behind)} ${chatId}`,
        limit,
      );
      const left = limit - first.length;
      const rest =
        left === 0 ? [] : yield* read(sql`AND last_verified_at ${sql.literal(beyond)} ${time}`, left);
      const page = [...first, ...rest].filter(isLinked);
      return isOlder ? page : page.toReversed();
    }),

    exportPage: operation("exportPage", function* (pid, after, limit) {
      const page = yield* readRecordValues(
        values(sql`
          SELECT ${recordColumns} ${linksOf(pid)} AND chat_id > ${after ?? ""} ORDER BY chat_id LIMIT ${limit}`),
      );
      // A fast client takes each page at once, so that an export on SQLite would block the process.
      yield* Effect.yieldNow;
      return page.filter(isLinked);
    }),

    setGame: setGameOn(parts),

    removeGame,

    restoreGame: (write) => Effect.flatMap(restoreGame(write), orConflict),

    distrust: transaction("distrust", function* (write) {
      const { pid, chatId, gameId } = write;
      yield* lockScope(pid);
      const [set] = yield* readSets(sql`
        UPDATE links SET proof = 'hand', proven_at = NULL, previous_game_id = game_id
        WHERE pid = ${pid} AND chat_id = ${chatId} AND game_id = ${gameId} AND proof = 'known'
        RETURNING ${recordColumns}, previous_game_id`);
      if (set === undefined) return false;
      yield* insertRecord(sql, pid, linkSet(write, set));
      return true;
    }),

    moveChat,

    deleteScope: scopeDeletionOn(parts),
  };
});

const countStep = 10_000;

interface CountStep {
  /** The last chat ID that was counted, if more links may follow. */
  readonly last: string | null;
  readonly counts: ReadonlyArray<number>;
}

const readCountSteps = readerOf(
  "links",
  ([last, ...counts]: ReadonlyArray<unknown>): CountStep | undefined =>
    (last === null || isId(last)) && counts.every(isWhole) ? { last, counts } : undefined,
);

const conditions = linkProofs.map((way) => (way === null ? "proof IS NULL" : `proof = '${way}'`));

const allWays = conditions.map((is) => `COUNT(*) FILTER (WHERE ${is})`).join(" + ");

/**
 * For each way, how many links there are and how many are recent. Grouping would sort the links. The last count is null,
 * which is invalid, if a link has none of the ways.
 */
const wayCounts = literalSql(
  [
    ...conditions.map((is) => `COUNT(*) FILTER (WHERE ${is}), COUNT(*) FILTER (WHERE ${is} AND is_recent)`),
    `CASE WHEN ${allWays} = COUNT(*) THEN 0 END`,
  ].join(", "),
);

const readNumbers = readerOf("links", ([value]: ReadonlyArray<unknown>) =>
  isWhole(value) ? value : undefined,
);
