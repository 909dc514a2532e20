/** Says a rule of a role plan as a sentence, with the names of its groups, ranks, items and roles. */
import type { GuildRole, ItemDetails, RankedGroup } from "@accountlink/core/platforms";
import { conditionsIn, kindOf, type RoleRule, rowOf, type SingleCondition } from "@accountlink/core/roles";
import { type Html, html } from "../../html.ts";
import { roleName } from "../look/remedies.ts";

/** A group or an item of the game platform. Groups have ranks, unless the platform did not answer. */
export type Thing = ItemDetails & Partial<Pick<RankedGroup, "ranks">>;

export const thingKey = (kind: string, id: string): string => `${kind} ${id}`;

export interface RuleNames {
  /** Highest first. */
  readonly roles: ReadonlyArray<GuildRole>;
  /** By `thingKey`; null if the game platform has none with this ID. */
  readonly things: ReadonlyMap<string, Thing | null>;
}

/** Says what a rule does, such as "A member who has the game pass VIP and is in Makers gets Gold." */
export const ruleSentence = (names: RuleNames, { roleId, when, nickname }: RoleRule): Html => {
  const [first, ...others] = conditionsIn(when).map((each) => conditionPhrase(names, each));
  return html`A member who ${first ?? null}${others.map((each) => html` <strong>and</strong> ${each}`)} gets
    <em>${roleName(names, roleId)}</em>${nickname === null ? null : html`, with the nickname <code>${nickname}</code>`}.`;
};

const conditionPhrase = ({ things }: RuleNames, when: SingleCondition): Html => {
  switch (when.is) {
    case "linked":
      return html`has linked`;
    case "proven":
      return html`has proven the linked account`;
    case "unlinked":
      return html`has not linked`;
    case "age":
      return html`has an account that is at least ${when.minDays === 1 ? "1 day" : `${when.minDays} days`} old`;
    case "owner": {
      const { thing = "item" } = rowOf(kindOf(when));
      return html`has the ${thing} <em>${things.get(thingKey(when.item, when.itemId))?.name ?? when.itemId}</em>`;
    }
    case "group":
      return groupPhrase(things.get(thingKey("group", when.groupId)), when);
  }
};

const groupPhrase = (
  group: Thing | null | undefined,
  { groupId, minRank, maxRank }: SingleCondition & { readonly is: "group" },
): Html => {
  const name = html`<em>${group?.name ?? `group ${groupId}`}</em>`;
  const rank = (of: number) =>
    html`<em>${group?.ranks?.find((each) => each.rank === of)?.name ?? `rank ${of}`}</em>`;
  const highest = group?.ranks?.at(-1)?.rank ?? 255;
  if (minRank === null)
    return maxRank === null ? html`is in ${name}` : html`is at most ${rank(maxRank)} of ${name}`;
  if (minRank === maxRank) return html`is ${rank(minRank)} of ${name}`;
  if (maxRank === null || maxRank >= highest) return html`is at least ${rank(minRank)} of ${name}`;
  return html`is ${rank(minRank)} to ${rank(maxRank)} of ${name}`;
};
