import type { Forbidden, InvalidParameter } from "@accountlink/core/errors";
import { KeyStore } from "@accountlink/core/keys";
import {
  conditionForms,
  formatCondition,
  type PlanDetails,
  type PlanSettings,
  parseCondition,
  planJson,
  type RoleRule,
  StoredPlans,
} from "@accountlink/core/roles";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import { DashboardKeys, DashboardRoles } from "@accountlink/http-api";
import { Effect, Option, Record } from "effect";
import { Command, Flag } from "effect/cli";
import { entryFlag, fieldFlag } from "../../cli/field_flags.ts";
import { accountFlag, guildFlag, problemsText, refuse, scopeText, switchFlag } from "../../cli/flags.ts";
import { answer, formatTable } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, describe, group, managed, operatorOrigin } from "../command.ts";
import { requireFeatures } from "./require_features.ts";

const planFlags = {
  account: accountFlag.pipe(Flag.withDescription("Account of the plan")),
  guildId: guildFlag("guild-id").pipe(Flag.withDescription("Guild of the plan")),
  scope: fieldFlag("scope", DashboardKeys.createKey.parameters.scope).pipe(
    Flag.withDescription("Whether links of the account's global data scope count, or of the guild's"),
    Flag.withDefault("guild"),
  ),
};

type PlanChoice = Command.Command.Config.Infer<typeof planFlags>;

const guildOfPlan = Effect.fnUntraced(function* ({ account, guildId, scope: kind }: PlanChoice) {
  const target = kind === "guild" ? ({ kind, guildId } as const) : { kind };
  const found = yield* (yield* KeyStore).findScope(account, target);
  if (Option.isSome(found)) return { scope: found.value, guildId };
  const scope = kind === "guild" ? `scope for guild ${guildId}` : "global scope";
  return yield* new CommandFailed({ problem: `Cannot find the plan: account "${account}" has no ${scope}` });
});

const ruleOf = (text: string): Option.Option<RoleRule> => {
  const [, roleId, condition = ""] = /^(\d{1,32})=(.*)$/.exec(text) ?? [];
  if (roleId === undefined) return Option.none();
  return Option.map(parseCondition(condition), (when) => ({ roleId, when, nickname: null }));
};

/** Formats a rule as `--rule` accepts it. */
const ruleText = ({ roleId, when }: RoleRule): string => `${roleId}=${formatCondition(when)}`;

const fields = DashboardRoles.putRoles.parameters;

const roleFlag = (name: string, description: string) =>
  entryFlag(name, fields.bypassRoleIds).pipe(
    Flag.withMetavar("id"),
    Flag.withDescription(`${description}; can be repeated, and replaces all such roles`),
  );

const rulesFlag = Flag.String("rule").pipe(
  Flag.filterMap(
    ruleOf,
    () => `expected <role>=${conditionForms.join(", ")}, or several with & between them`,
  ),
  Flag.withMetavar("rule"),
  Flag.withDescription(
    `A role and the members who get it: <role>= and one of ${conditionForms.join(", ")}, or two to five with & between them, which all have to be met; can be repeated, and replaces all rules`,
  ),
  Flag.atLeast(0),
);

const planOutput = (details: PlanDetails) => ({
  account: details.plan.scope.account,
  scope: details.plan.scope.kind,
  ...planJson(details),
});

const planText = ({ plan, status: { pending, sweptAt, sweep, problems } }: PlanDetails): string => {
  const lines = formatTable(
    ["PLAN", `${scopeText(plan.scope)} scope of account "${plan.scope.account}", guild ${plan.guildId}`],
    [
      ["rules", plan.rules.map(ruleText).join(", ") || "none"],
      ["nickname", plan.nickname ?? "none"],
      ["nickname's group", plan.nicknameGroupId ?? "none"],
      [
        "members left alone",
        plan.bypassRoleIds.length === 0
          ? "bots"
          : `bots, and those with role ${plan.bypassRoleIds.join(" or ")}`,
      ],
      ["nicknames left alone", plan.nicknameBypassRoleIds.map((id) => `of role ${id}`).join(", ") || "none"],
      ["members never linked", plan.unlinked === "keep" ? "keep their roles" : "lose the roles of the rules"],
      ["state", plan.state],
      ["waiting members", String(pending)],
      ["last sweep", timeOrNull(sweptAt) ?? "never"],
      ["running sweep", sweep === null ? "none" : `${sweep.done} of ${sweep.total || "all"} members`],
    ],
  );
  if (problems.length === 0) return lines;
  const table = formatTable(
    ["MEMBERS", "ROLE", "PROBLEM", "AT"],
    problems.map(({ chatId, count, roleId, reason, at }) => [
      chatId === null ? "everyone" : count === 1 ? chatId : `${chatId} and ${count - 1} more`,
      roleId ?? (reason === "members_hidden" ? "all" : "nickname"),
      reason,
      formatTimestamp(at),
    ]),
  );
  return `${lines}\n\n${table}`;
};

const showCommand = managed("show", planFlags, function* (choice) {
  const details = yield* (yield* StoredPlans).find(yield* guildOfPlan(choice));
  yield* answer(planOutput(details), planText(details));
}).pipe(describe("Show the role plan of a guild, its progress and its problems."));

const settingFlags = {
  ...planFlags,
  rules: rulesFlag,
  noRules: switchFlag("no-rules", "Remove all rules"),
  nickname: fieldFlag("nickname", fields.nickname).pipe(Flag.withMetavar("template"), Flag.optional),
  noNickname: switchFlag("no-nickname", "Leave nicknames alone"),
  nicknameGroup: Flag.optional(fieldFlag("nickname-group", fields.nicknameGroupId)),
  bypassRole: roleFlag("bypass-role", "Role whose members are left alone"),
  noBypassRole: switchFlag("no-bypass-role", "Leave only bots alone"),
  nicknameBypassRole: roleFlag("nickname-bypass-role", "Role whose members keep their nickname"),
  noNicknameBypassRole: switchFlag("no-nickname-bypass-role", "Let nobody keep another nickname"),
  unlinked: Flag.optional(fieldFlag("unlinked", fields.unlinked)),
  take: entryFlag("take", fields.take).pipe(
    Flag.withMetavar("id"),
    Flag.withDescription(
      "Role that the rules name no more, to take from the members who have it by the rules; can be repeated",
    ),
  ),
  state: Flag.optional(fieldFlag("state", fields.state)),
};

type Choice = Command.Command.Config.Infer<typeof settingFlags>;

const changeOf = ({
  rules,
  nickname,
  nicknameGroup,
  bypassRole,
  nicknameBypassRole,
  unlinked,
  state,
  ...choice
}: Choice): Partial<PlanSettings> => ({
  ...(rules.length > 0 || choice.noRules ? { rules } : {}),
  ...Record.getSomes({ nickname, nicknameGroupId: nicknameGroup }),
  ...(bypassRole.length > 0 || choice.noBypassRole ? { bypassRoleIds: bypassRole } : {}),
  ...(nicknameBypassRole.length > 0 || choice.noNicknameBypassRole
    ? { nicknameBypassRoleIds: nicknameBypassRole }
    : {}),
  ...(choice.noNickname ? { nickname: null } : {}),
  ...Record.getSomes({ unlinked, state }),
});

const checkChange = (choice: Choice) => {
  if (choice.rules.length > 0 && choice.noRules) return refuse("--no-rules takes no --rule beside it");
  if (Option.isSome(choice.nickname) && choice.noNickname) {
    return refuse("--no-nickname takes no --nickname beside it");
  }
  if (choice.bypassRole.length > 0 && choice.noBypassRole) {
    return refuse("--no-bypass-role takes no --bypass-role beside it");
  }
  if (choice.nicknameBypassRole.length > 0 && choice.noNicknameBypassRole) {
    return refuse("--no-nickname-bypass-role takes no --nickname-bypass-role beside it");
  }
  return Object.keys(changeOf(choice)).length + choice.take.length === 0
    ? refuse("roles set needs at least one flag that changes the plan")
    : Effect.void;
};

const setCommand = managed("set", settingFlags, function* (choice) {
  const { guildId } = choice;
  const plans = yield* StoredPlans;
  const guild = yield* guildOfPlan(choice);
  const change = changeOf(choice);
  yield* requireFeatures(change);
  const { take } = choice;
  const settings = { ...(yield* plans.find(guild)).plan, ...change, ...(take.length > 0 && { take }) };
  const details = yield* plans.put(guild, settings, operatorOrigin()).pipe(
    Effect.catchTags({
      InvalidParameter: failed,
      Forbidden: failed,
      Conflict: () =>
        new CommandFailed({ problem: `Cannot set the plan: another plan of guild ${guildId} is on` }),
    }),
  );
  yield* answerWithLocation(planOutput(details), `${planText(details)}\n\nStored`);
}).pipe(
  Command.validate(checkChange),
  describe(
    [
      "Change the role plan of a guild; what is left out stays. A running server applies a plan that is on to all members.",
      "The chat platform is not asked: a role that the guild does not have becomes a problem of the plan. Of a game of your own, the command asks whether it has what the rules need.",
    ],
    {
      "accountlink roles set --account acme --guild-id 700000000000000001 --rule 1=linked --rule 2=group:9:100-255 --state on":
        "A role for linked members, and one for ranks of a group",
    },
  ),
);

const failed = (error: InvalidParameter | Forbidden) =>
  new CommandFailed({
    problem: `Cannot set the plan: ${error._tag === "Forbidden" ? error.message : problemsText(error)}`,
  });

const sweepCommand = managed("sweep", planFlags, function* (choice) {
  const { guildId } = choice;
  const started = (yield* StoredPlans).startSweep(yield* guildOfPlan(choice));
  const problem = `Cannot sweep guild ${guildId}: its plan is not on`;
  const details = yield* Effect.catchTag(started, "BadRequest", () => new CommandFailed({ problem }));
  yield* answerWithLocation(planOutput(details), `A running server compares all members of guild ${guildId}`);
}).pipe(describe("Let a running server compare all members of a guild with its role plan."));

export const rolesCommand = group(
  "roles",
  "Manage role plans, also next to a running server, which applies every change within a second.",
  [showCommand, setCommand, sweepCommand],
);
