import { type PlanDetails, planJson } from "@accountlink/core/roles";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import { scopeText } from "../../cli/flags.ts";
import { formatTable } from "../../cli/output.ts";
import { ruleText } from "./role_flags.ts";

export const planOutput = (details: PlanDetails) => ({
  account: details.plan.scope.account,
  scope: details.plan.scope.kind,
  ...planJson(details),
});

export const planText = ({ plan, status: { pending, sweptAt, sweep, problems } }: PlanDetails): string => {
  const lines = formatTable(
    ["PLAN", `${scopeText(plan.scope)} scope of account "${plan.scope.account}", guild ${plan.guildId}`],
    [
      ["rules", plan.rules.map(ruleText).join(", ") || "none"],
      ["nickname", plan.nickname ?? "none"],
      ["nickname's group", plan.nicknameGroupId ?? "none"],
      [
        "members left alone",
        plan.bypassRoleId === null ? "bots" : `bots, and those with role ${plan.bypassRoleId}`,
      ],
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
