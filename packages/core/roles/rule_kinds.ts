/**
 * The kinds of rules, one row each: schema, fields, what a comparison needs, and when the rule holds. The
 * schemas, comparisons, the dashboard's form and style sheet, and the command line read this table.
 */
import { Effect, Option, Schema } from "effect";
import { Digits } from "../ids.ts";
import { isProven, type LinkProof } from "../links/link_proof.ts";
import { type GameItem, ItemKind, type ItemOwnership } from "../platforms/game_platform.ts";
import type { GameGroup, GameProfile } from "../platforms/profile.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import { mostDays, type RuleField, ruleFields, ruleParts, type TypedFields } from "./rule_fields.ts";

/** The linked game user, as far as the plan needs it. */
export interface LinkedGame {
  /** How the link was last confirmed. */
  readonly proof: LinkProof;
  /** Null if the user does not exist, or if the plan does not need the profile; undefined if it is unknown. */
  readonly profile: GameProfile | null | undefined;
  /** Includes the groups that the plan names; null if they are unknown. */
  readonly groups: ReadonlyArray<Pick<GameGroup, "id" | "role">> | null;
  /** Whether the user has each of the plan's items, by `itemKey`. Unknown ones are left out. */
  readonly items: ReadonlyMap<string, ItemOwnership>;
  /** The time of the comparison, from which the age of the account follows. */
  readonly at: Millis;
}

/** Identifies an item in `LinkedGame.items`. @internal */
export const itemKey = ({ item, itemId }: GameItem): string => `${item} ${itemId}`;

/** Returns the user's membership in a group; undefined without one, null if the platform does not report groups. */
export const groupIn = (
  { groups }: LinkedGame,
  groupId: string,
): Pick<GameGroup, "role"> | null | undefined =>
  groups === null ? null : groups.find(({ id }) => String(id) === groupId);

/** What a comparison has to know of the linked game user. */
interface Needs {
  readonly profile?: true;
  readonly groupId?: string;
  readonly item?: GameItem;
}

interface RuleKind<When> {
  readonly schema: Schema.Codec<When, unknown>;
  readonly parts?: ReadonlyArray<keyof typeof ruleParts>;
  /** Finds the ID in an address of the game platform's site. */
  readonly address?: RegExp;
  /** How the command line writes the rule: the first form whose fields are all that the rule has. */
  readonly forms: readonly [string, ...ReadonlyArray<string>];
  readonly typed: (when: When) => Partial<TypedFields>;
  /** Converts typed fields to the rule's JSON. */
  readonly untyped: (fields: TypedFields) => unknown;
  readonly needs: (when: When) => Needs;
  /** Whether a member gets the role; null if the platform does not tell. @param game null without a link */
  readonly holds: (when: When, game: LinkedGame | null) => boolean | null;
}

const kind = <When>(row: RuleKind<When>): RuleKind<When> => row;

const simple = <Is extends string>(is: Is, isMet: (game: LinkedGame | null) => boolean) =>
  kind({
    schema: Schema.Struct({ is: Schema.Literal(is) }),
    forms: [is],
    typed: () => ({}),
    untyped: () => ({ is }),
    needs: () => ({}),
    holds: (_, game) => isMet(game),
  });

const Rank = Schema.NullOr(
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { expected: "a whole number, 0 or more" })),
).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(null)));

const GroupCondition = Schema.Struct({
  is: Schema.Literal("group"),
  groupId: Digits,
  minRank: Rank,
  maxRank: Rank,
}).check(
  Schema.makeFilter(({ minRank, maxRank }) => minRank === null || maxRank === null || minRank <= maxRank, {
    expected: "a minRank up to maxRank",
  }),
);

const AgeCondition = Schema.Struct({
  is: Schema.Literal("age"),
  minDays: Schema.Int.check(
    Schema.isBetween({ minimum: 1, maximum: mostDays }, { expected: `whole days from 1 to ${mostDays}` }),
  ),
});

const textOf = (value: number | null): string => (value === null ? "" : String(value));
const rankOf = (text: string): number | null => (text === "" ? null : Number(text));

const isRanked = (
  game: LinkedGame,
  { groupId, minRank, maxRank }: typeof GroupCondition.Type,
): boolean | null => {
  const group = groupIn(game, groupId);
  if (group === null) return null;
  if (group === undefined) return false;
  if (minRank === null && maxRank === null) return true;
  const rank = group.role?.rank ?? null;
  return rank === null ? null : rank >= (minRank ?? -Infinity) && rank <= (maxRank ?? Infinity);
};

/** Returns whether the account is old enough. An account whose creation the platform does not tell is not. */
const isOlderThan = ({ profile, at }: LinkedGame, days: number): boolean | null => {
  if (profile === undefined) return null;
  return profile !== null && profile.created !== null && at - Date.parse(profile.created) >= days * dayMs;
};

/** @param address bundles have addresses too, but they are no assets */
const itemKind = <Item extends GameItem["item"]>(item: Item, address: RegExp) =>
  kind({
    schema: Schema.Struct({ is: Schema.Literal("owner"), item: Schema.Literal(item), itemId: Digits }),
    parts: ["item"],
    address,
    forms: [`${item}:<itemId>`],
    typed: ({ itemId }) => ({ itemId }),
    untyped: ({ itemId }) => ({ is: "owner", item, itemId }),
    needs: ({ itemId }) => ({ item: { item, itemId } }),
    holds: hasItem,
  });

const hasItem = (item: GameItem, game: LinkedGame | null): boolean | null => {
  if (game === null) return false;
  const ownership = game.items.get(itemKey(item));
  return ownership === undefined ? null : ownership === "owned";
};

/** The kinds of rules, by their name in forms and on the command line. @internal */
export const ruleKinds = {
  linked: simple("linked", (game) => game !== null),
  proven: simple("proven", (game) => isProven(game?.proof ?? null)),
  unlinked: simple("unlinked", (game) => game === null),
  group: kind({
    schema: GroupCondition,
    parts: ["group"],
    address: /(?:\/(?:communities|groups)\/|[?&]gid=)(\d{1,32})/iu,
    forms: ["group:<groupId>", "group:<groupId>:<minRank>-<maxRank>"],
    typed: ({ groupId, minRank, maxRank }) => ({
      groupId,
      minRank: textOf(minRank),
      maxRank: textOf(maxRank),
    }),
    untyped: ({ groupId, minRank, maxRank }) => ({
      is: "group",
      groupId,
      minRank: rankOf(minRank),
      maxRank: rankOf(maxRank),
    }),
    needs: ({ groupId }) => ({ groupId }),
    holds: (when, game) => (game === null ? false : isRanked(game, when)),
  }),
  gamepass: itemKind("gamepass", /\/(?:game-pass|passes)\/(\d{1,32})/iu),
  badge: itemKind("badge", /\/badges\/(\d{1,32})/iu),
  asset: itemKind("asset", /\/(?:catalog|library|store\/asset)\/(\d{1,32})/iu),
  owner: kind({
    schema: Schema.Struct({ is: Schema.Literal("owner"), item: ItemKind, itemId: Digits }),
    parts: ["kind", "item"],
    forms: ["owner:<itemKind>:<itemId>"],
    typed: ({ item, itemId }) => ({ itemKind: item, itemId }),
    untyped: ({ itemKind: item, itemId }) => ({ is: "owner", item, itemId }),
    needs: ({ item, itemId }) => ({ item: { item, itemId } }),
    holds: hasItem,
  }),
  age: kind({
    schema: AgeCondition,
    parts: ["age"],
    forms: ["age:<minDays>"],
    typed: ({ minDays }) => ({ minDays: String(minDays) }),
    untyped: ({ minDays }) => ({ is: "age", minDays: Number(minDays) }),
    needs: () => ({ profile: true }),
    holds: ({ minDays }, game) => (game === null ? false : isOlderThan(game, minDays)),
  }),
} as const;

export type RuleKindName = keyof typeof ruleKinds;

/** The kinds of items that have a kind of rules of their own; other items have `owner`. @internal */
export const itemRules = ["gamepass", "badge", "asset"] as const satisfies ReadonlyArray<RuleKindName>;

/** @internal */
export const ruleKindNames = Object.keys(ruleKinds) as ReadonlyArray<RuleKindName>;

const { linked, proven, unlinked, group, owner, age } = ruleKinds;

/** A condition of one kind. Its `owner` has all kinds of items, of which each game has others. @internal */
export const SingleCondition = Schema.Union([
  linked.schema,
  proven.schema,
  unlinked.schema,
  group.schema,
  owner.schema,
  age.schema,
]);
export type SingleCondition = typeof SingleCondition.Type;

/** The fewest and the most conditions that a rule combines. @internal */
export const [fewestCombined, mostCombined] = [2, 5];

const Combined = Schema.Array(SingleCondition).check(
  Schema.isMinLength(fewestCombined),
  Schema.isMaxLength(mostCombined),
);

/**
 * Which members get a role. `minRank` and `maxRank` are inclusive; null means no bound. `proven` is met by members who
 * proved their game account themselves, `owner` by members whose game user has the item, `age` by members whose game
 * account is at least `minDays` days old, and `all` by members who meet each of its conditions.
 */
export const RoleCondition = Schema.Union([
  SingleCondition,
  Schema.Struct({ is: Schema.Literal("all"), of: Combined }),
]);
export type RoleCondition = typeof RoleCondition.Type;

/** Returns the conditions that a member has to meet, which are one for most rules. @internal */
export const conditionsIn = (when: RoleCondition): ReadonlyArray<SingleCondition> =>
  when.is === "all" ? when.of : [when];

/** Combines 1 to 5 conditions into the condition of a rule. @internal */
export const allOf = (of: ReadonlyArray<SingleCondition>): RoleCondition => {
  const [only] = of;
  return only !== undefined && of.length === 1 ? only : { is: "all", of };
};

/** Returns the name of a condition's kind. @internal */
export const kindOf = (when: SingleCondition): RuleKindName =>
  when.is === "owner" ? (itemRules.find((item) => item === when.item) ?? "owner") : when.is;

/** Any row of the table. The condition has the row's kind, so the row takes the condition. @internal */
export const rowOf = (name: RuleKindName): RuleKind<SingleCondition> =>
  ruleKinds[name] as unknown as RuleKind<SingleCondition>;

/** Returns the kind's name if a text, such as a field of a form, is one. @internal */
export const ruleKindNamed = (text: string): RuleKindName | undefined =>
  ruleKindNames.find((name) => name === text);

/** Returns what each condition of a rule needs. @internal */
export const needsOf = (when: RoleCondition): ReadonlyArray<Needs> =>
  conditionsIn(when).map((each) => rowOf(kindOf(each)).needs(each));

/**
 * Returns whether each condition of a rule is met; null if the answer is unknown. One that is not met decides, whatever
 * is unknown about the others. @internal
 */
export const holds = (when: RoleCondition, game: LinkedGame | null): boolean | null => {
  const met = new Set(conditionsIn(when).map((each) => rowOf(kindOf(each)).holds(each, game)));
  if (met.has(false)) return false;
  return met.has(null) ? null : true;
};

const noFields: TypedFields = {
  groupId: "",
  minRank: "",
  maxRank: "",
  itemId: "",
  itemKind: "",
  minDays: "",
};

/** Returns the fields of a condition as typed; fields that its kind does not have are empty. @internal */
export const typedFields = (when: SingleCondition): TypedFields => ({
  ...noFields,
  ...rowOf(kindOf(when)).typed(when),
});

const decode = Schema.decodeUnknownOption(SingleCondition);

/** Returns the ID in an address of a thing of this kind, or the unchanged text. @internal */
export const idIn = (name: RuleKindName, text: string): string =>
  rowOf(name).address?.exec(text)?.[1] ?? text;

export interface FieldProblem {
  readonly field: RuleField;
  /** The code of what the field expects. */
  readonly expected: (typeof ruleFields)[RuleField]["expected"] | "ranks";
}

/** Converts typed fields to a condition, or returns the problems of the fields. @internal */
export const conditionOf = (
  name: RuleKindName,
  fields: TypedFields,
): SingleCondition | ReadonlyArray<FieldProblem> => {
  const { parts = [], untyped } = rowOf(name);
  const asked = parts.flatMap((part): ReadonlyArray<RuleField> => ruleParts[part]);
  const problems = asked
    .filter((field) => !ruleFields[field].isValid(fields[field]))
    .map((field) => ({ field, expected: ruleFields[field].expected }));
  if (problems.length > 0) return problems;
  // Each field is right, so only the order of two ranks can be wrong.
  return Option.getOrElse(decode(untyped(fields)), () => [
    { field: "maxRank" as const, expected: "ranks" as const },
  ]);
};

const placeholder = /<(\w+)>/gu;

const patterns = ruleKindNames.flatMap((name) =>
  rowOf(name).forms.map((form) => ({
    name,
    pattern: new RegExp(
      `^${form.replaceAll(placeholder, (_, field: string) =>
        field === "itemKind" ? String.raw`(?<itemKind>[a-z][\w-]{0,31})` : String.raw`(?<${field}>\d{0,32})`,
      )}$`,
      "u",
    ),
  })),
);

/** The forms in which the command line writes conditions. @internal */
export const conditionForms: ReadonlyArray<string> = ruleKindNames.flatMap((name) => rowOf(name).forms);

const parseSingle = (text: string): Option.Option<SingleCondition> => {
  for (const { name, pattern } of patterns) {
    const found = pattern.exec(text);
    if (found !== null) return decode(rowOf(name).untyped({ ...noFields, ...found.groups }));
  }
  return Option.none();
};

/** Between the conditions that a rule combines. */
const and = "&";

/**
 * Reads a condition as the command line writes it, such as `group:9:100-255`, or several that all have to be met, such
 * as `proven&gamepass:55`. @internal
 */
export const parseCondition = (text: string): Option.Option<RoleCondition> =>
  Option.flatMap(Option.all(text.split(and).map(parseSingle)), (of) =>
    of.length > mostCombined ? Option.none() : Option.some(allOf(of)),
  );

/** Writes a condition as `parseCondition` reads it. @internal */
export const formatCondition = (when: RoleCondition): string =>
  conditionsIn(when).map(formatSingle).join(and);

const formatSingle = (when: SingleCondition): string => {
  const { forms, typed } = rowOf(kindOf(when));
  const fields = typed(when);
  const fieldsIn = (form: string) => [...form.matchAll(placeholder)].map(([, field]) => field as RuleField);
  const given = (Object.keys(fields) as ReadonlyArray<RuleField>).filter((field) => fields[field] !== "");
  const form = forms.find((each) => given.every((field) => fieldsIn(each).includes(field))) ?? forms[0];
  return form.replaceAll(placeholder, (_, field: RuleField) => fields[field] ?? "");
};
