/** Which kinds of rules a game platform has what they need for. */
import type { Expected } from "../expected.ts";
import type { GameFeatures } from "../platforms/game_platform.ts";
import {
  itemRules,
  kindOf,
  plainOf,
  type RuleKindName,
  ruleKindNames,
  type SingleCondition,
} from "./rule_kinds.ts";

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

/** Returns what the game platform lacks for a condition; null if it lacks nothing. @internal */
export const lackedBy = (
  condition: SingleCondition,
  { groups, ages, items }: GameFeatures,
): Expected | null => {
  const when = plainOf(condition);
  const kind = kindOf(when);
  if (kind === "group") return groups ? null : { is: "groups" };
  if (kind === "age") return ages ? null : { is: "ages" };
  if (when.is !== "owner" || items.includes(when.item)) return null;
  return items.length === 0
    ? { is: "items" }
    : { is: "known_item", item: when.item, items: items.join(", ") };
};
