/** The nicknames that plans replaced, which are kept for a while. */
import { ChatId } from "@accountlink/core";
import type { PlanPlace, ReplacedNickname, RolePlanStore } from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Schema } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { columnReader, OptionalText, tableOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { isPlan } from "./is_plan.ts";

export const nicknameOperations = ({ sql, operation, transaction, rowsWritten }: StoreParts) => {
  /** Forgets replaced nicknames, and members without other stored fields. */
  const forgetReplaced = Effect.fnUntraced(function* (isMeant: Statement.Fragment) {
    yield* sql`
      DELETE FROM role_members
      WHERE ${isMeant} AND replaced_at IS NOT NULL AND due_at IS NULL AND nickname IS NULL`;
    yield* sql`
      UPDATE role_members SET replaced_nickname = NULL, replaced_at = NULL
      WHERE ${isMeant} AND replaced_at IS NOT NULL`;
  });

  return {
    keepNickname: operation("keepNickname", function* ({ pid, guildId }, { chatId, nickname, at }) {
      assertStorable([nickname ?? ""]);
      const keep = sql`
        INSERT INTO role_members (pid, guild_id, chat_id, mark, replaced_nickname, replaced_at)
        SELECT pid, guild_id, ${chatId}, 1, CAST(${nickname} AS TEXT), CAST(${at} AS BIGINT)
        FROM role_plans WHERE pid = ${pid} AND guild_id = ${guildId}
        ON CONFLICT (pid, guild_id, chat_id) DO UPDATE SET
          replaced_nickname = excluded.replaced_nickname, replaced_at = excluded.replaced_at
        WHERE role_members.replaced_at IS NULL`;
      return rowsWritten(yield* keep.raw) > 0;
    }),

    keptNicknames: operation("keptNicknames", (place, after, limit) =>
      readReplaced(sql`
        SELECT chat_id, replaced_nickname, replaced_at FROM role_members
        WHERE ${isPlan(sql, place)} AND replaced_at IS NOT NULL AND chat_id > ${after ?? ""}
        ORDER BY chat_id LIMIT ${limit}`),
    ),

    countNicknames: operation("countNicknames", (place) => countReplaced(sql, place)),

    dropNickname: transaction("dropNickname", (place, chatId) =>
      forgetReplaced(sql`${isPlan(sql, place)} AND chat_id = ${chatId}`),
    ),

    forgetNicknames: transaction("forgetNicknames", (before) => forgetReplaced(sql`replaced_at < ${before}`)),
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

const readNumbers = columnReader("role_members", "number", Schema.Int);
