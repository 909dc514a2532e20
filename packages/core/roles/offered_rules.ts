/** Which kinds of rules a game platform has what they need for. */
import { InvalidParameter } from "../errors.ts";
import type { Expected } from "../expected.ts";
import type { GameFeatures } from "../platforms/game_platform.ts";
import type { PlanSettings } from "./role_plan.ts";
import { itemRules, type Needs, needsOf, type RuleKindName, ruleKindNames } from "./rule_kinds.ts";

/** Returns the kinds of rules to offer. @internal */
export const offeredKinds = ({ groups, ages, items }: GameFeatures): ReadonlyArray<RuleKindName> => {
  const ownKinds: ReadonlyArray<string> = itemRules;
  return ruleKindNames.filter((name) => {
    if (name === "group") return groups;
    if (name === "age") return ages;
    if (name === "owner") return items.some((item) => !ownKinds.includes(item));
    return !ownKinds.includes(name) || items.includes(name);
  });
};

/** Returns the error about the first rule or nickname that needs what the game platform does not have; null if none does. @internal */
export const lackedByPlan = (
  { rules = [], nicknameGroupId = null }: Partial<Pick<PlanSettings, "rules" | "nicknameGroupId">>,
  features: GameFeatures,
): InvalidParameter | null => {
  const [lacked] = rules
    .flatMap(({ when }) => needsOf(when))
    .flatMap((needs) => lackedBy(needs, features) ?? []);
  if (lacked !== undefined) return InvalidParameter.one("rules", lacked);
  return nicknameGroupId === null || features.groups
    ? null
    : InvalidParameter.one("nicknameGroupId", { is: "groups" });
};

const lackedBy = (
  { groupId, age, item: asked }: Needs,
  { groups, ages, items }: GameFeatures,
): Expected | null => {
  if (groupId !== undefined && !groups) return { is: "groups" };
  if (age === true && !ages) return { is: "ages" };
  if (asked === undefined || items.includes(asked.item)) return null;
  return items.length === 0
    ? { is: "items" }
    : { is: "known_item", item: asked.item, items: items.join(", ") };
};
