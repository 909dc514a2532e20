import type { PlanDetails } from "@accountlink/core/roles";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import { scopeText } from "../../cli/flags.ts";
import { formatTable } from "../../cli/output.ts";
import { ruleText } from "./role_flags.ts";

export const planJson = ({ plan, status: { pending, sweptAt, sweep, problems } }: PlanDetails) => ({
  account: plan.scope.account,
  scope: plan.scope.kind,
  pid: plan.scope.pid,
  guildId: plan.guildId,
  rules: plan.rules,
  nickname: plan.nickname,
  status: {
    state: plan.state,
    pending,
    sweptAt: timeOrNull(sweptAt),
    sweep: sweep && { done: sweep.done, total: sweep.total },
    problems: problems.map(({ at, ...problem }) => ({ ...problem, at: formatTimestamp(at) })),
  },
});

export const planText = ({ plan, status: { pending, sweptAt, sweep, problems } }: PlanDetails): string => {
  const lines = formatTable(
    ["PLAN", `${scopeText(plan.scope)} scope of account "${plan.scope.account}", guild ${plan.guildId}`],
    [
      ["rules", plan.rules.map(ruleText).join(", ") || "none"],
      ["nickname", plan.nickname ?? "none"],
      ["state", plan.state],
      ["waiting members", String(pending)],
      ["last sweep", timeOrNull(sweptAt) ?? "never"],
      ["running sweep", sweep === null ? "none" : `${sweep.done} of ${sweep.total || "all"} members`],
    ],
  );
  if (problems.length === 0) return lines;
  const table = formatTable(
    ["MEMBER", "ROLE", "PROBLEM", "AT"],
    problems.map(({ chatId, roleId, reason, at }) => [
      chatId,
      roleId ?? "nickname",
      reason,
      formatTimestamp(at),
    ]),
  );
  return `${lines}\n\n${table}`;
};
