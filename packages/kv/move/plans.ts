/** Role plans with their members and problems. */
import type { GuildId, Pid, Row } from "@accountlink/core";
import { planMembers, planProblems, plans, settingsOf } from "../stores/role_plans.ts";
import { at, type Places, placeOf, scopeRef } from "./places.ts";
import { type Unit, unit } from "./unit.ts";

const placeIn = (row: Row) => ({ pid: row["pid"] as Pid, guildId: row["guild_id"] as GuildId });

const withScope = ({ pid }: Row, _: unknown, places: Places) => ({ scope: scopeRef(places, String(pid)) });

const withPlan = (row: Row, _: unknown, places: Places) => ({ ref: at(places.plans, placeOf(placeIn(row))) });

/** A plan that was removed leaves members behind, until a sweep removes them. */
const isOfPlan = (
  record: { readonly pid: Pid; readonly guildId: GuildId; readonly ref: number },
  { plans: all }: Places,
): boolean => all.get(placeOf(record)) === record.ref;

export const planUnits: ReadonlyArray<Unit> = [
  unit({
    records: plans,
    relation: "role_plans",
    columns: {
      pid: "pid",
      guild_id: "guildId",
      position: "position",
      revision: "revision",
      swept_at: "sweptAt",
      holder: "holder",
    },
    fields: (row, _, places) => {
      const { sweep_total: total, sweep_after: after, sweep_done: done, sweep_started_at: startedAt } = row;
      return {
        ...withScope(row, _, places),
        ...withPlan(row, _, places),
        settings: {
          rules: JSON.parse(String(row["rules"])),
          nickname: row["nickname"],
          nicknameGroupId: row["nickname_group_id"],
          bypassRoleIds: JSON.parse(String(row["bypass_role_ids"])),
          nicknameBypassRoleIds: JSON.parse(String(row["nickname_bypass_role_ids"])),
          unlinked: row["unlinked"],
          state: row["state"],
        },
        sweep: total === null ? null : { after, done, total, startedAt: startedAt ?? 0 },
        ...(row["changed_days"] !== null && { changedDays: JSON.parse(String(row["changed_days"])) }),
        ...(row["putting_back_since"] !== null && { puttingBackSince: row["putting_back_since"] }),
      };
    },
    row: ({ settings, sweep, changedDays, puttingBackSince }) => {
      const known = settingsOf(settings);
      return {
        rules: JSON.stringify(known.rules),
        nickname: known.nickname,
        nickname_group_id: known.nicknameGroupId,
        bypass_role_ids: JSON.stringify(known.bypassRoleIds),
        nickname_bypass_role_ids: JSON.stringify(known.nicknameBypassRoleIds),
        unlinked: known.unlinked,
        state: known.state,
        sweep_total: sweep?.total ?? null,
        sweep_after: sweep?.after ?? null,
        sweep_done: sweep?.done ?? 0,
        sweep_started_at: sweep?.startedAt ?? null,
        changed_days: changedDays === undefined ? null : JSON.stringify(changedDays),
        putting_back_since: puttingBackSince ?? null,
      };
    },
  }),
  unit({
    records: planMembers,
    relation: "role_members",
    columns: { pid: "pid", guild_id: "guildId", chat_id: "chatId", mark: "mark", nickname: "nickname" },
    fields: (row, _, places) => {
      const { since, due_at: dueAt, replaced_nickname: nickname, replaced_at: replacedAt } = row;
      return {
        ...withPlan(row, _, places),
        waits: dueAt === null ? null : { since, dueAt },
        ...(replacedAt !== null && { replaced: { nickname, at: replacedAt } }),
      };
    },
    row: ({ waits, replaced }) => ({
      since: waits?.since ?? null,
      due_at: waits?.dueAt ?? null,
      replaced_nickname: replaced?.nickname ?? null,
      replaced_at: replaced?.at ?? null,
    }),
    isKept: isOfPlan,
  }),
  unit({
    records: planProblems,
    relation: "role_problem_members",
    parts: { role_problems: { pid: "pid", guild_id: "guild_id", chat_id: "chat_id" } },
    fields: (row, { role_problems: problems = [] }, places) => ({
      ...placeIn(row),
      ...withPlan(row, null, places),
      chatId: row["chat_id"],
      problems: problems.map(({ chat_id: chatId, role_id: roleId, reason, at: time }) => ({
        reason,
        at: time,
        chatId: chatId === "" ? null : chatId,
        roleId: roleId === "" ? null : roleId,
      })),
    }),
    partTables: ["role_problems"],
    rowsOfParts: ({ pid, guildId, chatId, problems }) => ({
      role_problems: problems.map(({ roleId, reason, at: time }) => ({
        pid,
        guild_id: guildId,
        chat_id: chatId,
        role_id: roleId ?? "",
        reason,
        at: time,
      })),
    }),
    isKept: isOfPlan,
  }),
];
