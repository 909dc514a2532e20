/** Says a rule of a role plan as a sentence, with the names of its groups, ranks, items and roles. */
import { GamePlatform } from "@accountlink/core";
import type { PlatformUnavailable } from "@accountlink/core/errors";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { type ItemDetails, itemKinds, type RankedGroup } from "@accountlink/core/platforms";
import {
  conditionsIn,
  kindOf,
  type PlainCondition,
  plainOf,
  type RoleRule,
  type SingleCondition,
} from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { type Html } from "../../html.ts";
import { type NamedRoles, roleName } from "../look/remedies.ts";
import { say, tags } from "../look/say.ts";
import { isId, type RolesForm } from "./role_form.ts";
import { thingOf } from "./rule_choices.ts";

/** A group or an item of the game platform. Groups have ranks, unless the platform did not answer. */
export type Thing = ItemDetails & Partial<Pick<RankedGroup, "ranks">>;

export const thingKey = (kind: string, id: string): string => `${kind} ${id}`;

export interface RuleNames extends NamedRoles {
  /** The groups and items in the form, by `thingKey`; null if the game platform has none with this ID. */
  readonly things: ReadonlyMap<string, Thing | null>;
}

/** Says what a rule does, such as "A member who has the game pass VIP and is in Makers gets Gold." */
export const ruleSentence = (names: RuleNames, { roleId, when, nickname }: RoleRule): Html => {
  const conditions = conditionsIn(when)
    .map((each) => conditionPhrase(names, each))
    .reduceRight((rest, first) => say("rule.both", { b: tags.b, first, rest }));
  const role = roleName(names, roleId);
  return nickname === null
    ? say("rule.sentence", { em: tags.em, conditions, role })
    : say("rule.sentence_named", { em: tags.em, code: tags.code, conditions, role, nickname });
};

export const conditionPhrase = (names: RuleNames, condition: SingleCondition): Html => {
  const { things } = names;
  const { em } = tags;
  const when = plainOf(condition);
  const met = condition.is === "not" ? "unless" : "if";
  switch (when.is) {
    case "unlinked":
      return when.days === undefined
        ? say(`rule.${met}.unlinked`)
        : say(`rule.${met}.unlinked_days`, { days: when.days });
    case "role":
      return say(`rule.${met}.role`, { em, role: roleName(names, when.roleId) });
    case "age":
      return say(`rule.${met}.age`, { days: when.minDays });
    case "owner": {
      const item = things.get(thingKey(when.item, when.itemId))?.name ?? when.itemId;
      return say(`rule.${met}.${thingOf(kindOf(when))}`, { em, item });
    }
    case "group":
      return groupPhrase(met, things.get(thingKey("group", when.groupId)), when);
    default:
      return say(`rule.${met}.${when.is}`);
  }
};

const groupPhrase = (
  met: "if" | "unless",
  found: Thing | null | undefined,
  { groupId, minRank, maxRank }: PlainCondition & { readonly is: "group" },
): Html => {
  const { em } = tags;
  const group = found?.name ?? say("rule.group", { id: groupId });
  const named = (of: number) =>
    found?.ranks?.find((each) => each.rank === of)?.name ?? say("rule.rank", { rank: String(of) });
  const highest = found?.ranks?.at(-1)?.rank ?? 255;
  if (minRank === null)
    return maxRank === null
      ? say(`rule.${met}.group`, { em, group })
      : say(`rule.${met}.most`, { em, group, rank: named(maxRank) });
  if (minRank === maxRank) return say(`rule.${met}.rank`, { em, group, rank: named(minRank) });
  if (maxRank === null || maxRank >= highest)
    return say(`rule.${met}.least`, { em, group, rank: named(minRank) });
  return say(`rule.${met}.between`, { em, group, lowest: named(minRank), highest: named(maxRank) });
};

/** Makes a function that finds the groups and items of a form by `thingKey`. */
export const makeThings = Effect.map(GamePlatform, ({ findGroup, findItem }) =>
  Effect.fnUntraced(function* ({ rules, nicknameGroupId }: RolesForm) {
    const things = new Map<string, Effect.Effect<Option.Option<Thing>, PlatformUnavailable>>();
    const conditions = rules.flatMap((rule) => rule.conditions);
    for (const groupId of [...conditions.map((each) => each.groupId), nicknameGroupId]) {
      if (findGroup && isId(groupId)) things.set(thingKey("group", groupId), findGroup(groupId));
    }
    for (const { when, itemId } of conditions) {
      const item = itemKinds.find((kind) => kind === when);
      if (findItem && item && isId(itemId)) things.set(thingKey(item, itemId), findItem({ item, itemId }));
    }
    const found = yield* forEachLimited(things, 8, ([key, find]) =>
      find.pipe(
        Effect.map((thing): readonly [string, Thing | null] => [key, Option.getOrNull(thing)]),
        Effect.orElseSucceed(() => [key, { name: null }] as const),
      ),
    );
    return new Map<string, Thing | null>(found);
  }),
);
