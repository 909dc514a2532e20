/** The nicknames that plans replaced, which are kept for a while. */
import { ChatId } from "@accountlink/core";
import type { PlanPlace, ReplacedNickname, RolePlanStore } from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { batchSize, deleteInBatches, inBatches } from "../statements/in_batches.ts";
import { columnReader, OptionalInt, OptionalText, tableOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { isPlan } from "./is_plan.ts";

export const nicknameOperations = (parts: StoreParts) => {
  const { sql, operation, transaction, asStep, firstRows, rowsWritten } = parts;
  /** A member without stored fields other than a replaced nickname. */
  const isNothingElse = sql`due_at IS NULL AND nickname IS NULL`;

  return {
    startNickname: operation(
      "startNickname",
      function* ({ pid, guildId }, { chatId, nickname, replaced, at }) {
        assertStorable([nickname, replaced?.nickname ?? ""]);
        const [kept, keptAt] = replaced === null ? [null, null] : [replaced.nickname, at];
        const [stored = null] = yield* readKeptAt(sql`
        INSERT INTO role_members (pid, guild_id, chat_id, mark, nickname, replaced_nickname, replaced_at)
        SELECT pid, guild_id, ${chatId}, 1, ${nickname}, CAST(${kept} AS TEXT), CAST(${keptAt} AS BIGINT)
        FROM role_plans WHERE pid = ${pid} AND guild_id = ${guildId}
        ON CONFLICT (pid, guild_id, chat_id) DO UPDATE SET
          nickname = excluded.nickname,
          replaced_nickname = CASE
            WHEN role_members.replaced_at IS NULL THEN excluded.replaced_nickname
            ELSE role_members.replaced_nickname
          END,
          replaced_at = COALESCE(role_members.replaced_at, excluded.replaced_at)
        RETURNING replaced_at`);
        return replaced !== null && stored === at;
      },
    ),

    keptNicknames: operation("keptNicknames", (place, after, limit) =>
      readReplaced(sql`
        SELECT chat_id, replaced_nickname, replaced_at FROM role_members
        WHERE ${isPlan(sql, place)} AND replaced_at IS NOT NULL AND chat_id > ${after ?? ""}
        ORDER BY chat_id LIMIT ${limit}`),
    ),

    keptNickname: operation("keptNickname", (place, chatId) =>
      Effect.map(
        readReplaced(sql`
        SELECT chat_id, replaced_nickname, replaced_at FROM role_members
        WHERE ${isPlan(sql, place)} AND replaced_at IS NOT NULL AND chat_id = ${chatId}`),
        ([kept = null]) => kept,
      ),
    ),

    countNicknames: operation("countNicknames", (place) => countReplaced(sql, place)),

    dropNickname: transaction("dropNickname", function* (place, chatId) {
      const isReplaced = sql`${isPlan(sql, place)} AND chat_id = ${chatId} AND replaced_at IS NOT NULL`;
      yield* sql`DELETE FROM role_members WHERE ${isReplaced} AND ${isNothingElse}`;
      yield* sql`UPDATE role_members SET replaced_nickname = NULL, replaced_at = NULL WHERE ${isReplaced}`;
    }),

    forgetNicknames: operation("forgetNicknames", function* (before) {
      const condition = sql`replaced_at < ${before}`;
      const rows = {
        table: "role_members",
        primaryKey: ["pid", "guild_id", "chat_id"],
        order: "replaced_at",
      };
      yield* deleteInBatches(sql, { ...rows, condition: sql`${condition} AND ${isNothingElse}` });
      const some = firstRows({ ...rows, condition, limit: batchSize });
      const forget = sql`UPDATE role_members SET replaced_nickname = NULL, replaced_at = NULL ${some}`;
      yield* inBatches(asStep(Effect.map(forget.raw, rowsWritten)));
    }),
  } satisfies Partial<RolePlanStore["Service"]>;
};

export const countReplaced = (sql: SqlClient.SqlClient, place: PlanPlace) =>
  Effect.map(
    readNumbers(sql`
      SELECT COUNT(*) AS number FROM role_members WHERE ${isPlan(sql, place)} AND replaced_at IS NOT NULL`),
    ([number = 0]) => number,
  );

const readReplaced = tableOf("role_members", {
  chatId: ChatId,
  replacedNickname: OptionalText,
  replacedAt: Schema.Int,
}).reader(
  ({ chatId, replacedNickname, replacedAt }): ReplacedNickname => ({
    chatId,
    nickname: replacedNickname,
    at: replacedAt,
  }),
);

const readKeptAt = columnReader("role_members", "replaced_at", OptionalInt);

const readNumbers = columnReader("role_members", "number", Schema.Int);
