import type { Forbidden, InvalidParameter } from "@accountlink/core/errors";
import { type PlanSettings, StoredPlans } from "@accountlink/core/roles";
import { Effect, Option, Record } from "effect";
import { Command, Flag } from "effect/cli";
import { problemsText, refuse, switchFlag } from "../../cli/flags.ts";
import { answer } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, describe, group, managed, operatorOrigin } from "../command.ts";
import { planOutput, planText } from "./plan_output.ts";
import { idFlag, planFlags, rulesFlag, scopeOfPlan } from "./role_flags.ts";

const showCommand = managed("show", planFlags, function* (choice) {
  const details = yield* (yield* StoredPlans).find(yield* scopeOfPlan(choice), choice.guildId);
  yield* answer(planOutput(details), planText(details));
}).pipe(describe("Show the role plan of a guild, its progress and its problems."));

const settingFlags = {
  ...planFlags,
  rules: rulesFlag,
  noRules: switchFlag("no-rules", "Remove all rules"),
  nickname: Flag.String("nickname").pipe(
    Flag.withMetavar("template"),
    Flag.withDescription("Nickname of linked members, such as {game.username}"),
    Flag.optional,
  ),
  noNickname: switchFlag("no-nickname", "Leave nicknames alone"),
  nicknameGroup: idFlag("nickname-group", "Group whose rank {group.role} names in the nickname"),
  bypassRole: idFlag("bypass-role", "Role whose members are left alone"),
  noBypassRole: switchFlag("no-bypass-role", "Leave only bots alone"),
  state: Flag.Literals("state", ["on", "paused"]).pipe(
    Flag.withDescription("Whether the plan changes members"),
    Flag.optional,
  ),
};

type Choice = Command.Command.Config.Infer<typeof settingFlags>;

const changeOf = ({
  rules,
  nickname,
  nicknameGroup,
  bypassRole,
  state,
  ...choice
}: Choice): Partial<PlanSettings> => ({
  ...(rules.length > 0 || choice.noRules ? { rules } : {}),
  ...Record.getSomes({ nickname, nicknameGroupId: nicknameGroup, bypassRoleId: bypassRole }),
  ...(choice.noNickname ? { nickname: null } : {}),
  ...(choice.noBypassRole ? { bypassRoleId: null } : {}),
  ...Record.getSomes({ state }),
});

const checkChange = (choice: Choice) => {
  if (choice.rules.length > 0 && choice.noRules) return refuse("--no-rules takes no --rule beside it");
  if (Option.isSome(choice.nickname) && choice.noNickname) {
    return refuse("--no-nickname takes no --nickname beside it");
  }
  if (Option.isSome(choice.bypassRole) && choice.noBypassRole) {
    return refuse("--no-bypass-role takes no --bypass-role beside it");
  }
  return Object.keys(changeOf(choice)).length === 0
    ? refuse("roles set needs at least one flag that changes the plan")
    : Effect.void;
};

const setCommand = managed("set", settingFlags, function* (choice) {
  const { guildId } = choice;
  const plans = yield* StoredPlans;
  const scope = yield* scopeOfPlan(choice);
  const settings = { ...(yield* plans.find(scope, guildId)).plan, ...changeOf(choice) };
  const details = yield* plans.put(scope, guildId, settings, operatorOrigin()).pipe(
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
      "The platform is not asked: a role that the guild does not have becomes a problem of the plan.",
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
  const started = (yield* StoredPlans).startSweep(yield* scopeOfPlan(choice), guildId);
  const problem = `Cannot sweep guild ${guildId}: its plan is not on`;
  const details = yield* Effect.catchTag(started, "BadRequest", () => new CommandFailed({ problem }));
  yield* answerWithLocation(planOutput(details), `A running server compares all members of guild ${guildId}`);
}).pipe(describe("Let a running server compare all members of a guild with its role plan."));

export const rolesCommand = group(
  "roles",
  "Manage role plans, also next to a running server, which applies every change within a second.",
  [showCommand, setCommand, sweepCommand],
);
