import { ChatId, GuildId, Pid } from "@accountlink/core";
import {
  type ErasedMessage,
  GuildLogStore,
  type HeldLog,
  LogEntry,
  type LogMessage,
  linesWithoutUser,
  messageTime,
  mostMessages,
  mostWaiting,
  type UserMessage,
  type WaitingEntry,
} from "@accountlink/core/guild_log";
import type { PlanPlace } from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { communityFields, withCommunityScope } from "../keys/accounts.ts";
import { dialectOf } from "../statements/dialect.ts";
import { leasesOn } from "../statements/leases.ts";
import { columnReader, OptionalInt, OptionalText, schemaReaderOf, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";

const idOf = ({ pid, guildId }: PlanPlace): string => `${pid} ${guildId}`;

export const layer = storeLayer(GuildLogStore)((parts) => {
  const { sql, operation, transaction, forUpdate, elements, isAmong, isAnyOf, firstRows } = parts;

  const hasEdits = sql`EXISTS (
    SELECT 1 FROM guild_log_messages WHERE log_id = guild_logs.id AND edit_at IS NOT NULL)`;

  const lease = leasesOn(sql, {
    table: "guild_logs",
    key: "id",
    nodes: "guild_log_nodes",
    isNeeded: sql`(channel_id IS NOT NULL OR ${hasEdits})`,
  });

  const insertEntry = Effect.fnUntraced(function* (id: string, entry: LogEntry, at: Millis) {
    const [last] = yield* readLast(sql`
      SELECT COUNT(*) AS waiting, COALESCE(MAX(id), 0) AS last FROM guild_log_entries WHERE log_id = ${id}`);
    if (last === undefined || last.waiting >= mostWaiting(entry)) return;
    const row = { log_id: id, id: last.last + 1, chat_id: entry.chatId, entry: JSON.stringify(entry), at };
    yield* sql`INSERT INTO guild_log_entries ${sql.insert(row)}`;
  });

  const insertMessage = Effect.fnUntraced(function* (id: string, message: LogMessage, at: Millis) {
    const { channelId, messageId, lines } = message;
    const text = JSON.stringify(lines);
    assertStorable([channelId, messageId, text]);
    const [inserted] = yield* readIds(sql`
      INSERT INTO guild_log_messages (log_id, message_id, channel_id, lines, at)
      VALUES (${id}, ${messageId}, ${channelId}, ${text}, ${at})
      ON CONFLICT (log_id, message_id) DO NOTHING RETURNING message_id`);
    if (inserted === undefined) return;
    const chatIds = [...new Set(lines.flatMap((line) => line.chatIds))];
    yield* sql`
      INSERT INTO guild_log_users (log_id, message_id, chat_id)
      SELECT ${id}, ${messageId}, value ->> 0 FROM ${elements(JSON.stringify(chatIds.map((chatId) => [chatId])))}`;
    yield* forgetOld(id, at);
  });

  /** Deletes messages that nobody will edit any more. Usually one message is too many. */
  const forgetOld = Effect.fnUntraced(function* (id: string, at: Millis) {
    const beyond = sql`
      SELECT at FROM guild_log_messages WHERE log_id = ${id} ORDER BY at DESC LIMIT 1 OFFSET ${mostMessages}`;
    const isOld = sql`
      log_id = ${id} AND edit_at IS NULL AND (at <= ${at - messageTime} OR at <= COALESCE((${beyond}), -1))`;
    const deleted = yield* readIds(sql`
      DELETE FROM guild_log_messages ${firstRows({
        table: "guild_log_messages",
        primaryKey: ["log_id", "message_id"],
        order: "at",
        condition: isOld,
        limit: 100,
      })} RETURNING message_id`);
    if (deleted.length === 0) return;
    yield* sql`
      DELETE FROM guild_log_users WHERE log_id = ${id} AND message_id ${isAmong(JSON.stringify(deleted))}`;
  });

  return {
    add: transaction("add", function* (pid, entry, at) {
      const logs = yield* readLogIds(sql`
        SELECT id FROM guild_logs WHERE pid = ${pid} AND channel_id IS NOT NULL ORDER BY id ${forUpdate}`);
      for (const id of logs) yield* insertEntry(id, entry, at);
    }),

    hold: operation("hold", function* (write) {
      assertStorable([write.node]);
      if (!(yield* lease(write))) return [];
      const ofPlan = sql`pid = guild_logs.pid AND guild_id = guild_logs.guild_id`;
      return yield* readHeld(sql`
        SELECT guild_logs.pid, scopes.account, scopes.guild_id AS scope_guild, guild_logs.guild_id,
          guild_logs.channel_id, guild_logs.position, guild_logs.closed_at, guild_logs.problems,
          (SELECT MAX(at) FROM role_problems WHERE ${ofPlan}) AS problem_at,
          (SELECT at FROM guild_log_entries WHERE log_id = guild_logs.id ORDER BY guild_log_entries.id LIMIT 1) AS waits_since,
          (SELECT MIN(edit_at) FROM guild_log_messages
            WHERE log_id = guild_logs.id AND edit_at IS NOT NULL) AS edit_at
        FROM guild_logs JOIN scopes ON scopes.pid = guild_logs.pid JOIN accounts ON accounts.name = scopes.account
        WHERE guild_logs.holder = ${write.node} AND accounts.status = 'active'
          AND (guild_logs.channel_id IS NOT NULL OR ${hasEdits})
        ORDER BY guild_logs.id`);
    }),

    waiting: operation("waiting", (place, limit) =>
      readWaiting(sql`
        SELECT id, entry, at FROM guild_log_entries WHERE log_id = ${idOf(place)} ORDER BY id LIMIT ${limit}`),
    ),

    record: transaction("record", function* (write) {
      const { node, at, position, told, problems, message, closedAt } = write;
      const id = idOf(write);
      const [holder] = yield* readHolders(sql`SELECT holder FROM guild_logs WHERE id = ${id} ${forUpdate}`);
      if (holder === undefined) return false;
      if (message !== null) yield* insertMessage(id, message, at);
      if (holder !== node) return false;
      yield* sql`
        UPDATE guild_logs SET position = ${position}, problems = ${JSON.stringify(problems)}, closed_at = ${closedAt}
        WHERE id = ${id}`;
      const ids = told.map((each) => [each]);
      yield* sql`
        DELETE FROM guild_log_entries WHERE log_id = ${id} AND id ${isAnyOf(
          sql`SELECT CAST(value ->> 0 AS BIGINT) FROM ${elements(JSON.stringify(ids))}`,
        )}`;
      return true;
    }),

    dueEdits: operation("dueEdits", (place, at, limit) =>
      readErased(sql`
        SELECT channel_id, message_id, lines, erased_at FROM guild_log_messages
        WHERE log_id = ${idOf(place)} AND edit_at <= ${at} ORDER BY edit_at, message_id LIMIT ${limit}`),
    ),

    settleEdit: operation("settleEdit", function* (place, { messageId, lines }, retryAt) {
      yield* sql`
        UPDATE guild_log_messages
        SET edit_at = ${retryAt}, erased_at = CASE WHEN ${retryAt === null ? 1 : 0} = 1 THEN NULL ELSE erased_at END
        WHERE log_id = ${idOf(place)} AND message_id = ${messageId} AND lines = ${JSON.stringify(lines)}
          AND edit_at IS NOT NULL`;
    }),

    forgetUser: transaction("forgetUser", function* (chatId, at) {
      yield* forgetInLogs(sql, chatId, at);
    }),
  };
});

/** Makes, moves or turns off the log of a community. A log that is made tells only events after `position`. */
export const followLog = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { pid, guildId }: PlanPlace,
  before: string | null,
  channelId: string | null,
  position: number,
) {
  if (channelId === before) return;
  const id = idOf({ pid, guildId });
  if (before === null) {
    const row = { id, pid, guild_id: guildId, channel_id: channelId, position, problems: "[]" };
    yield* sql`
      INSERT INTO guild_logs ${sql.insert(row)}
      ON CONFLICT (id) DO UPDATE SET channel_id = excluded.channel_id, position = excluded.position, closed_at = NULL`;
  } else {
    yield* sql`UPDATE guild_logs SET channel_id = ${channelId}, closed_at = NULL WHERE id = ${id}`;
  }
  if (channelId === null) yield* sql`DELETE FROM guild_log_entries WHERE log_id = ${id}`;
});

/** Finds the messages that name a chat user. */
export const findUserMessages = (sql: SqlClient.SqlClient, chatId: ChatId) =>
  readUserMessages(sql`
    SELECT pid, guild_id, channel_id, guild_log_messages.message_id, guild_log_messages.at
    FROM (SELECT pid, guild_id, guild_logs.id AS log_id, message_id
      FROM guild_log_users JOIN guild_logs ON guild_logs.id = log_id WHERE chat_id = ${chatId}) AS named
    JOIN guild_log_messages
      ON guild_log_messages.log_id = named.log_id AND guild_log_messages.message_id = named.message_id
    ORDER BY pid, guild_id, guild_log_messages.message_id`);

/** Takes a chat user out of what logs have told and will tell. Returns in which scopes messages named the user. */
export const forgetInLogs = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  chatId: ChatId,
  at: Millis,
) {
  const { forUpdateOf, isAmong } = dialectOf(sql);
  yield* sql`DELETE FROM guild_log_entries WHERE chat_id = ${chatId}`;
  const named = yield* readNaming(sql`
    SELECT guild_log_messages.log_id, guild_log_messages.message_id, lines
    FROM guild_log_users JOIN guild_log_messages
      ON guild_log_messages.log_id = guild_log_users.log_id
        AND guild_log_messages.message_id = guild_log_users.message_id
    WHERE chat_id = ${chatId}
    ORDER BY guild_log_messages.log_id, guild_log_messages.message_id ${forUpdateOf("guild_log_messages")}`);
  for (const { logId, messageId, lines } of named) {
    const left = linesWithoutUser(lines, chatId) ?? lines;
    yield* sql`
      UPDATE guild_log_messages
      SET lines = ${JSON.stringify(left)}, edit_at = ${at}, erased_at = COALESCE(erased_at, ${at})
      WHERE log_id = ${logId} AND message_id = ${messageId}`;
    // An erased line may have named other users too.
    const stillNamed = JSON.stringify(left.flatMap(({ chatIds }) => chatIds));
    yield* sql`
      DELETE FROM guild_log_users
      WHERE log_id = ${logId} AND message_id = ${messageId} AND NOT chat_id ${isAmong(stillNamed)}`;
  }
  return named.map(({ logId }) => Pid.make(logId.slice(0, logId.indexOf(" "))));
});

const Lines = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ text: Schema.String, chatIds: Schema.Array(ChatId) })),
);

const readHeld = tableOf("guild_logs", {
  ...communityFields,
  channelId: OptionalText,
  position: Schema.Int,
  closedAt: OptionalInt,
  problems: Schema.fromJsonString(Schema.Array(Schema.String)),
  problemAt: OptionalInt,
  waitsSince: OptionalInt,
  editAt: OptionalInt,
}).reader((log): HeldLog => withCommunityScope(log));

const readWaiting = tableOf("guild_log_entries", {
  id: Schema.Int,
  entry: Schema.fromJsonString(LogEntry),
  at: Schema.Int,
}).reader((waiting): WaitingEntry => waiting);

const readErased = tableOf("guild_log_messages", {
  channelId: Schema.String,
  messageId: Schema.String,
  lines: Lines,
  erasedAt: Schema.Int,
}).reader((message): ErasedMessage => message);

const readNaming = tableOf("guild_log_messages", {
  logId: Schema.String,
  messageId: Schema.String,
  lines: Lines,
}).reader();

const readUserMessages = tableOf("guild_log_messages", {
  pid: Pid,
  guildId: GuildId,
  channelId: Schema.String,
  messageId: Schema.String,
  at: Schema.Int,
}).reader((message): UserMessage => message);

const readLast = schemaReaderOf(
  "guild_log_entries",
  Schema.Struct({ waiting: Schema.Int, last: Schema.Int }),
);

const readLogIds = columnReader("guild_logs", "id", Schema.String);
const readHolders = columnReader("guild_logs", "holder", OptionalText);
const readIds = columnReader("guild_log_messages", "message_id", Schema.String);
