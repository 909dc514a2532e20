import { ChatId, Conflict, GameId, Pid } from "@accountlink/core";
import {
  type BlockSet,
  BlockStore,
  blockedName,
  blockedPerStep,
  type LinkBlocked,
  mostBlocks,
  type SetBlock,
  writeOfBlock,
} from "@accountlink/core/admission";
import { signedBy, type WriteContext, withReason } from "@accountlink/core/audit";
import { logged } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import { Clock, Effect, Schema } from "effect";
import { insertRecord, readRecords, recordColumnsOn } from "../journal/records.ts";
import { readScopes } from "../keys/accounts.ts";
import { orConflict } from "../statements/keyed_write.ts";
import { columnReader, OptionalText, tableOf } from "../statements/row.ts";
import { type Ending, rollBack, storeLayer } from "../statements/store_operation.ts";
import { linkRemovalOn } from "./link_removal.ts";

const blocks = tableOf(
  "blocks",
  {
    hash: Schema.String,
    chatId: Schema.NullOr(ChatId),
    gameId: Schema.NullOr(GameId),
    reason: OptionalText,
    at: Schema.Int,
    member: OptionalText,
  },
  { hash: "user_hash", at: "blocked_at" },
);

const readBlocks = blocks.reader((block) => block);

const readHashes = columnReader("blocks", "user_hash", Schema.String);
const readUserBlocks = tableOf("blocks", { pid: Pid, at: Schema.Int }, { at: "blocked_at" }).reader();
const readRemovals = tableOf("block_removals", { gameId: GameId, entry: Schema.Int }).reader();
const readCounts = columnReader("blocks", "count", Schema.Int);
const readChatIds = columnReader("links", "chat_id", ChatId);

export const layer = storeLayer(BlockStore)((parts) => {
  const { sql, operation, transaction, forUpdate, isAmong } = parts;
  const removeLink = linkRemovalOn(sql);

  const removeLinks = Effect.fnUntraced(function* (
    write: WriteContext & Pick<SetBlock, "reason">,
    chatIds: ReadonlyArray<ChatId>,
  ) {
    const removed: Array<LinkBlocked> = [];
    for (const chatId of chatIds) {
      const unlinked = yield* removeLink({ ...write, chatId });
      if (unlinked !== null) removed.push({ chatId, ...unlinked });
    }
    return removed;
  });

  const others = ({ pid, hash }: Pick<SetBlock, "pid" | "hash">) =>
    sql`SELECT 1 FROM blocks WHERE pid = ${pid} AND user_hash <> ${hash} LIMIT 1 OFFSET ${mostBlocks - 1}`;

  const set = transaction("set", function* (write: SetBlock): Effect.fn.Return<BlockSet | Conflict, Ending> {
    const { pid, chatId, gameId, hash, reason, at } = write;
    assertStorable([reason ?? ""]);
    // Wait for transactions that write links, so that those that begin later see the block.
    yield* sql`SELECT pid FROM scopes WHERE pid = ${pid} ${forUpdate}`;
    yield* sql`UPDATE scopes SET has_blocks = 1 WHERE pid = ${pid} AND has_blocks = 0`;
    if ((yield* others(write)).length > 0) return yield* rollBack(new Conflict({ reason: "block_limit" }));
    const { member } = signedBy(write);
    yield* sql`
      INSERT INTO blocks (pid, user_hash, chat_id, game_id, reason, blocked_at, member)
      VALUES (${pid}, ${hash}, ${chatId}, ${gameId}, ${reason}, ${at}, ${member})
      ON CONFLICT (pid, user_hash) DO UPDATE SET
        chat_id = excluded.chat_id, reason = excluded.reason, blocked_at = excluded.blocked_at,
        member = excluded.member`;
    const details = withReason(blockedName(write), write);
    const entry = yield* insertRecord(sql, pid, logged(write, "block.set", details));
    const block = { chatId, gameId, reason, at, member };
    if (gameId === null) return { block, removed: yield* removeLinks(write, [chatId]), hasMore: false };
    const removed = yield* removeLinks(write, yield* linkedTo(pid, gameId));
    const hasMore = removed.length === blockedPerStep;
    if (hasMore) {
      yield* sql`
        INSERT INTO block_removals (pid, game_id, entry) VALUES (${pid}, ${gameId}, ${entry})
        ON CONFLICT (pid, game_id) DO UPDATE SET entry = excluded.entry`;
    }
    return { block, removed, hasMore };
  });

  const linkedTo = (pid: Pid, gameId: GameId) =>
    readChatIds(sql`
      SELECT chat_id FROM links WHERE pid = ${pid} AND game_id = ${gameId}
      ORDER BY chat_id LIMIT ${blockedPerStep} ${forUpdate}`);

  return {
    set: (write) => Effect.flatMap(set(write), orConflict),

    removals: operation("removals", () =>
      readScopes(sql`
        SELECT pid, account, guild_id FROM scopes WHERE pid IN (SELECT pid FROM block_removals) ORDER BY pid`),
    ),

    removeLinks: transaction("removeLinks", function* (pid) {
      yield* sql`SELECT pid FROM scopes WHERE pid = ${pid} ${forUpdate}`;
      const [removal] = yield* readRemovals(
        sql`SELECT game_id, entry FROM block_removals WHERE pid = ${pid} ORDER BY entry LIMIT 1`,
      );
      if (removal === undefined) return [];
      const { gameId, entry } = removal;
      const [block] = yield* readRecords(
        sql`SELECT ${recordColumnsOn(sql)} FROM journal WHERE place = ${pid} AND sequence = ${entry}`,
      );
      const write = { ...writeOfBlock(block, yield* Clock.currentTimeMillis), pid };
      const removed = yield* removeLinks(write, yield* linkedTo(pid, gameId));
      if (removed.length < blockedPerStep) {
        yield* sql`DELETE FROM block_removals WHERE pid = ${pid} AND game_id = ${gameId}`;
      }
      return removed;
    }),

    remove: transaction("remove", function* (write) {
      const { pid, gameId, hash } = write;
      const removed =
        yield* sql`DELETE FROM blocks WHERE pid = ${pid} AND user_hash = ${hash} RETURNING user_hash`;
      if (removed.length === 0) return false;
      yield* sql`DELETE FROM block_removals WHERE pid = ${pid} AND game_id = ${gameId}`;
      yield* insertRecord(sql, pid, logged(write, "block.removed", blockedName(write)));
      return true;
    }),

    findHashes: operation("findHashes", (pid, hashes) =>
      Effect.map(
        readHashes(sql`SELECT user_hash FROM blocks WHERE pid = ${pid} AND user_hash ${isAmong(hashes)}`),
        (found) => new Set(found),
      ),
    ),

    page: operation("page", function* (pid, place, limit) {
      const ofScope = sql`SELECT ${blocks.columns} FROM blocks WHERE pid = ${pid}`;
      const order = sql`ORDER BY blocked_at DESC, user_hash`;
      if (place === null) return yield* readBlocks(sql`${ofScope} ${order} LIMIT ${limit}`);
      const { at, hash } = place;
      const same = yield* readBlocks(
        sql`${ofScope} AND blocked_at = ${at} AND user_hash > ${hash} ORDER BY user_hash LIMIT ${limit}`,
      );
      const left = limit - same.length;
      if (left === 0) return same;
      const older = yield* readBlocks(sql`${ofScope} AND blocked_at < ${at} ${order} LIMIT ${left}`);
      return [...same, ...older];
    }),

    count: operation("count", (pid) =>
      Effect.map(
        readCounts(sql`SELECT COUNT(*) AS count FROM blocks WHERE pid = ${pid}`),
        ([count = 0]) => count,
      ),
    ),

    ofUser: operation("ofUser", (chatId) =>
      readUserBlocks(sql`
        SELECT pid, blocked_at FROM blocks WHERE chat_id = ${chatId} ORDER BY pid`),
    ),
  };
});
