/** The writes of `RolePlanStore` on plans. Each but `startSweep` is a transaction that includes its audit entry. */
import type { AuditEntry } from "@accountlink/core/audit";
import {
  changedSettings,
  noPlan,
  type PlanPlace,
  type PlanSettings,
  type PlanWrite,
  type PutPlan,
  planEntryDetails,
  type RolePlanStore,
} from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { insertEntry, ownerOf } from "../audit/audit_entry.ts";
import { dialectOf } from "../statements/dialect.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { planColumns, planTables, readPlans } from "./role_row.ts";

type Writes = Pick<RolePlanStore["Service"], "put" | "pause" | "remove" | "startSweep">;

export const planWrites = (sql: SqlClient.SqlClient): Writes => {
  const [put, pause, remove] = [putOn(sql), pauseOn(sql), removeOn(sql)];
  const { rowsWritten, withBulkTimeout } = dialectOf(sql);
  return {
    put: (write) => {
      const { rules, nickname } = write.settings;
      return put(write).pipe(storeOperation("RolePlanStore.put", JSON.stringify(rules), nickname ?? ""));
    },
    pause: (write) => pause(write).pipe(storeOperation("RolePlanStore.pause")),
    remove: (write) => withBulkTimeout(remove(write)).pipe(storeOperation("RolePlanStore.remove")),
    startSweep: (place, at) =>
      sql`UPDATE role_plans SET ${sweepStart(sql, 0, at)} WHERE ${isPlan(sql, place)} AND state = 'on'`.raw.pipe(
        Effect.map((raw) => rowsWritten(raw) > 0),
        storeOperation("RolePlanStore.startSweep"),
      ),
  };
};

export const isPlan = (sql: SqlClient.SqlClient, { pid, guildId }: PlanPlace) =>
  sql`pid = ${pid} AND guild_id = ${guildId}`;

/** Returns SQL assignments that start a sweep of the plan from the beginning, even if another sweep is running. */
export const sweepStart = (sql: SqlClient.SqlClient, total: number, at: Millis) => sql`
  revision = revision + 1, sweep_started_at = ${at}, sweep_after = NULL, sweep_done = 0, sweep_total = ${total}`;

const putOn = (sql: SqlClient.SqlClient) => {
  const { onlyOne } = dialectOf(sql);
  const findForUpdate = findForUpdateOn(sql);
  return Effect.fnUntraced(function* (write: PutPlan) {
    const { pid, guildId, settings, position, at } = write;
    yield* sql`SELECT locks FROM ${onlyOne(`role plans of guild ${guildId}`)}`;
    const others = yield* sql`
      SELECT pid FROM role_plans WHERE guild_id = ${guildId} AND pid <> ${pid} AND state = 'on'`;
    if (settings.state === "on" && others.length > 0) return false;
    const stored = yield* findForUpdate(write);
    const before = stored ?? noPlan;
    const changed = changedSettings(before, settings);
    if (changed.length === 0) return true;
    const values = { ...settingColumns(settings), ...(before.state === "on" ? {} : { position }) };
    if (stored === undefined) {
      const progress = { position, revision: 0, sweep_done: 0 };
      yield* sql`INSERT INTO role_plans ${sql.insert({ pid, guild_id: guildId, ...values, ...progress })}`;
    } else yield* sql`UPDATE role_plans SET ${sql.update(values)} WHERE ${isPlan(sql, write)}`;
    const sweep =
      settings.state === "on" ? sweepStart(sql, 0, at) : sql`revision = revision + 1, sweep_total = NULL`;
    yield* sql`UPDATE role_plans SET ${sweep} WHERE ${isPlan(sql, write)}`;
    yield* insertChange(sql, write, "roles.updated", planEntryDetails(write, settings, changed));
    return true;
  }, sql.withTransaction);
};

const settingColumns = ({ rules, nickname, nicknameGroupId, bypassRoleId, state }: PlanSettings) => ({
  rules: JSON.stringify(rules),
  nickname,
  nickname_group_id: nicknameGroupId,
  bypass_role_id: bypassRoleId,
  state,
});

const pauseOn = (sql: SqlClient.SqlClient) => {
  const findForUpdate = findForUpdateOn(sql);
  return Effect.fnUntraced(function* (write: PlanWrite) {
    const stored = yield* findForUpdate(write);
    if (stored?.state !== "on") return false;
    yield* sql`
      UPDATE role_plans SET state = 'paused', revision = revision + 1, sweep_total = NULL WHERE ${isPlan(sql, write)}`;
    const details = planEntryDetails(write, { ...stored, state: "paused" }, ["state"]);
    yield* insertChange(sql, write, "roles.updated", details);
    return true;
  }, sql.withTransaction);
};

const removeOn = (sql: SqlClient.SqlClient) => {
  const findForUpdate = findForUpdateOn(sql);
  return Effect.fnUntraced(function* (write: PlanWrite) {
    const stored = yield* findForUpdate(write);
    if (stored === undefined) return false;
    for (const table of ["role_members", "role_problems", "role_plans"]) {
      yield* sql`DELETE FROM ${sql(table)} WHERE ${isPlan(sql, write)}`;
    }
    yield* insertChange(sql, write, "roles.deleted", planEntryDetails(write, stored));
    return true;
  }, sql.withTransaction);
};

const findForUpdateOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* ({ pid, guildId }: PlanPlace) {
    yield* sql`SELECT pid FROM role_plans WHERE pid = ${pid} AND guild_id = ${guildId} ${forUpdate}`;
    const [found] = yield* Effect.flatMap(
      sql`
        SELECT ${planColumns} FROM ${planTables} WHERE role_plans.pid = ${pid} AND role_plans.guild_id = ${guildId}`,
      readPlans,
    );
    return found;
  });
};

const insertChange = (
  sql: SqlClient.SqlClient,
  { pid, actor, requestId, at }: PlanWrite,
  action: "roles.updated" | "roles.deleted",
  details: AuditEntry["details"],
) => insertEntry(sql, { actor, requestId, at, account: ownerOf(sql, pid), pid, action, details });
