/** Which kinds of rules a form offers, and which of their fields it has. */
import { featuresOf, type GamePlatform } from "@accountlink/core/platforms";
import {
  offeredKinds,
  type RuleField,
  type RuleKindName,
  rowOf,
  ruleKindNamed,
  ruleParts,
} from "@accountlink/core/roles";
import { Effect, Record } from "effect";
import { platforms } from "../look/names.ts";
import { say } from "../look/say.ts";

/** Returns the kinds of rules, and of items in them, that the game platform has what they need for. */
export const offeredBy = (game: GamePlatform["Service"]) =>
  Effect.map(featuresOf(game), (has) => ({ kinds: offeredKinds(has), itemKinds: has.items }));

/**
 * Returns the choices of a rule's kind.
 *
 * @param kinds what the game platform has what it needs for
 * @param when the kind of the rule, which may be unknown or no longer offered
 */
export const kindChoices = (kinds: ReadonlyArray<RuleKindName>, when: string) => {
  const kind = ruleKindNamed(when);
  return [
    ...kinds.map((name) => ({ value: name as string, label: say(`rule.kind.${name}`) })),
    ...(kind === undefined ? [{ value: when, label: say("rule.kind_unknown", { kind: when }) }] : []),
    ...(kind === undefined || kinds.includes(kind)
      ? []
      : [
          {
            value: when,
            label: say("rule.kind_untold", { kind: say(`rule.kind.${kind}`), platform: platforms.game }),
          },
        ]),
  ];
};

export const shownParts = (
  kinds: ReadonlyArray<RuleKindName>,
  kind: RuleKindName | undefined,
): ReadonlyArray<readonly [part: string, fields: ReadonlyArray<RuleField>]> =>
  Record.toEntries(ruleParts).filter(([part]) =>
    [kind, ...kinds].some((each) => each !== undefined && rowOf(each).parts?.includes(part)),
  );

export const thingOf = (kind: RuleKindName): "gamepass" | "badge" | "item" =>
  kind === "gamepass" || kind === "badge" ? kind : "item";
