/**
 * The kinds of rules, one row each: schema, fields, what a comparison needs, and when the rule holds. The
 * schemas, comparisons, the dashboard's form and style sheet, and the command line read this table.
 */
import { Effect, Option, Schema } from "effect";
import { Digits } from "../ids.ts";
import { isProven, type LinkProof } from "../links/link_proof.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import { type GameItem, ItemKind, type ItemOwnership } from "../platforms/game_platform.ts";
import type { GameGroup, GameProfile } from "../platforms/profile.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import {
  mostDays,
  mostUnlinkedDays,
  type RuleField,
  ruleFields,
  ruleParts,
  type TypedFields,
} from "./rule_fields.ts";

/** The linked game user, as far as the plan needs it. */
export interface LinkedGame {
  /** How the link was last confirmed. */
  readonly proof: LinkProof;
  /** Null if the user does not exist, or if the plan does not need the profile; undefined if it is unknown. */
  readonly profile: GameProfile | null | undefined;
  /** Whether the platform tells how old accounts are. */
  readonly areAgesTold: boolean;
  /** Includes the groups that the plan names, each once for every rank in it; null if they are unknown. */
  readonly groups: ReadonlyArray<Pick<GameGroup, "id" | "role">> | null;
  /** Whether the user has each of the plan's items, by `itemKey`. Unknown ones are left out. */
  readonly items: ReadonlyMap<string, ItemOwnership>;
}

/** A member of the guild, as rules see one. */
export interface Candidate {
  /** Null without a link. */
  readonly game: LinkedGame | null;
  readonly member: Pick<RoleMember, "roleIds" | "joined">;
  /** When the last link was removed; null if the member is linked or never was. */
  readonly unlinkedAt: Millis | null;
  /** The time of the comparison. */
  readonly at: Millis;
}

/** Identifies an item in `LinkedGame.items`. @internal */
export const itemKey = ({ item, itemId }: GameItem): string => `${item} ${itemId}`;

/** Returns the user's roles in a group: none outside the group, null if the platform reports no groups. @internal */
export const rolesIn = ({ groups }: Pick<LinkedGame, "groups">, groupId: string) =>
  groups?.flatMap(({ id, role }) => (String(id) === groupId ? [role] : [])) ?? null;

/** What a comparison has to know of the linked game user. */
export interface Needs {
  readonly age?: true;
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
  /** Whether a member gets the role; null if a platform does not tell. */
  readonly holds: (when: When, candidate: Candidate) => boolean | null;
}

const kind = <When>(row: RuleKind<When>): RuleKind<When> => row;

const simple = <Is extends string>(is: Is, isMet: (game: LinkedGame | null) => boolean) =>
  kind({
    schema: Schema.Struct({ is: Schema.Literal(is) }),
    forms: [is],
    typed: () => ({}),
    untyped: () => ({ is }),
    needs: () => ({}),
    holds: (_, { game }) => isMet(game),
  });

/** A kind that looks at the linked game user. Members without a link do not meet its conditions. */
const ofGame = <When>({
  holds: isMet,
  ...row
}: Omit<RuleKind<When>, "holds"> & {
  readonly holds: (when: When, game: LinkedGame, at: Millis) => boolean | null;
}) => kind<When>({ ...row, holds: (when, { game, at }) => (game === null ? false : isMet(when, game, at)) });

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

const UnlinkedCondition = Schema.Struct({
  is: Schema.Literal("unlinked"),
  days: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween(
        { minimum: 1, maximum: mostUnlinkedDays },
        { expected: `whole days from 1 to ${mostUnlinkedDays}` },
      ),
    ),
  ),
});

const textOf = (value: number | null | undefined): string => String(value ?? "");
const numberOf = (text: string): number | null => (text === "" ? null : Number(text));

/** Returns since when a member without a link has been in the guild without one; null if the join is unknown. @internal */
export const unlinkedSince = ({ member, unlinkedAt }: Candidate): Millis | null => {
  const joined = Date.parse(member.joined ?? "");
  return Number.isNaN(joined) ? null : Math.max(joined, unlinkedAt ?? joined);
};

/** Whether a member has been in the guild for some days without a link. */
const hasNoLinkFor = ({ days = 0 }: typeof UnlinkedCondition.Type, candidate: Candidate): boolean | null => {
  if (candidate.game !== null || days === 0) return candidate.game === null;
  const since = unlinkedSince(candidate);
  return since === null ? null : candidate.at - since >= days * dayMs;
};

const isRanked = (
  game: LinkedGame,
  { groupId, minRank, maxRank }: typeof GroupCondition.Type,
): boolean | null => {
  const ranks = rolesIn(game, groupId)?.map((role) => role?.rank ?? null);
  if (ranks === undefined) return null;
  if (minRank === null && maxRank === null) return ranks.length > 0;
  const isBetween = (rank: number | null) =>
    rank !== null && rank >= (minRank ?? -Infinity) && rank <= (maxRank ?? Infinity);
  return ranks.some(isBetween) || (ranks.includes(null) ? null : false);
};

/** Returns whether the account is old enough. A single account whose creation the platform does not tell is not. */
const isOlderThan = ({ profile, areAgesTold }: LinkedGame, days: number, at: Millis): boolean | null => {
  if (profile === undefined || (profile !== null && !areAgesTold)) return null;
  return profile !== null && profile.created !== null && at - Date.parse(profile.created) >= days * dayMs;
};

/** @param address bundles have addresses too, but they are no assets */
const itemKind = <Item extends GameItem["item"]>(item: Item, address: RegExp) =>
  ofGame({
    schema: Schema.Struct({ is: Schema.Literal("owner"), item: Schema.Literal(item), itemId: Digits }),
    parts: ["item"],
    address,
    forms: [`${item}:<itemId>`],
    typed: ({ itemId }) => ({ itemId }),
    untyped: ({ itemId }) => ({ is: "owner", item, itemId }),
    needs: ({ itemId }) => ({ item: { item, itemId } }),
    holds: hasItem,
  });

const hasItem = (item: GameItem, game: LinkedGame): boolean | null => {
  const ownership = game.items.get(itemKey(item));
  return ownership === undefined ? null : ownership === "owned";
};

/** The kinds of rules, by their name in forms and on the command line. @internal */
export const ruleKinds = {
  linked: simple("linked", (game) => game !== null),
  proven: simple("proven", (game) => isProven(game?.proof ?? null)),
  unlinked: kind({
    schema: UnlinkedCondition,
    parts: ["wait"],
    forms: ["unlinked", "unlinked:<days>"],
    typed: ({ days }) => ({ days: textOf(days) }),
    untyped: ({ days }) => ({ is: "unlinked", ...(days === "" ? {} : { days: Number(days) }) }),
    needs: () => ({}),
    holds: hasNoLinkFor,
  }),
  role: kind({
    schema: Schema.Struct({ is: Schema.Literal("role"), roleId: Digits }),
    parts: ["role"],
    forms: ["role:<roleId>"],
    typed: ({ roleId }) => ({ roleId }),
    untyped: ({ roleId }) => ({ is: "role", roleId }),
    needs: () => ({}),
    holds: ({ roleId }, { member }) => member.roleIds.includes(roleId),
  }),
  group: ofGame({
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
      minRank: numberOf(minRank),
      maxRank: numberOf(maxRank),
    }),
    needs: ({ groupId }) => ({ groupId }),
    holds: (when, game) => isRanked(game, when),
  }),
  gamepass: itemKind("gamepass", /\/(?:game-pass|passes)\/(\d{1,32})/iu),
  badge: itemKind("badge", /\/badges\/(\d{1,32})/iu),
  asset: itemKind("asset", /\/(?:catalog|library|store\/asset)\/(\d{1,32})/iu),
  owner: ofGame({
    schema: Schema.Struct({ is: Schema.Literal("owner"), item: ItemKind, itemId: Digits }),
    parts: ["kind", "item"],
    // A game of one's own has addresses of its own: the last part of the path that is a number is the ID.
    address: /^https?:\/\/[^?#]*\/(\d{1,32})(?:[/?#]|$)/iu,
    forms: ["owner:<itemKind>:<itemId>"],
    typed: ({ item, itemId }) => ({ itemKind: item, itemId }),
    untyped: ({ itemKind: item, itemId }) => ({ is: "owner", item, itemId }),
    needs: ({ item, itemId }) => ({ item: { item, itemId } }),
    holds: hasItem,
  }),
  age: ofGame({
    schema: AgeCondition,
    parts: ["age"],
    forms: ["age:<minDays>"],
    typed: ({ minDays }) => ({ minDays: String(minDays) }),
    untyped: ({ minDays }) => ({ is: "age", minDays: Number(minDays) }),
    needs: () => ({ age: true }),
    holds: ({ minDays }, game, at) => isOlderThan(game, minDays, at),
  }),
} as const;

export type RuleKindName = keyof typeof ruleKinds;

/** The kinds of items that have a kind of rules of their own; other items have `owner`. @internal */
export const itemRules = ["gamepass", "badge", "asset"] as const satisfies ReadonlyArray<RuleKindName>;

/** @internal */
export const ruleKindNames = Object.keys(ruleKinds) as ReadonlyArray<RuleKindName>;

const { linked, proven, unlinked, role, group, owner, age } = ruleKinds;

/** A condition of one kind. Its `owner` has all kinds of items, of which each game has others. */
const PlainCondition = Schema.Union([
  linked.schema,
  proven.schema,
  unlinked.schema,
  role.schema,
  group.schema,
  owner.schema,
  age.schema,
]);
export type PlainCondition = typeof PlainCondition.Type;

/** A condition of one kind, or its opposite. @internal */
export const SingleCondition = Schema.Union([
  PlainCondition,
  Schema.Struct({ is: Schema.Literal("not"), of: PlainCondition }),
]);
export type SingleCondition = typeof SingleCondition.Type;

/** The fewest conditions that a rule combines. @internal */
export const fewestCombined = 2;
/** The most conditions that a rule combines. @internal */
export const mostCombined = 5;

const Combined = Schema.Array(SingleCondition).check(
  Schema.isMinLength(fewestCombined),
  Schema.isMaxLength(mostCombined),
);

/**
 * Which members get a role. `minRank` and `maxRank` are inclusive; null means no bound. `proven` is met by members who
 * proved their game account themselves, `unlinked` with `days` by members who have been in the guild for so long without
 * a link, `role` by members with a role that no rule gives, `owner` by members whose game user has the item, `age` by
 * members whose game account is at least `minDays` days old, `not` by members who do not meet its condition, and `all`
 * by members who meet each of its conditions.
 */
export const RoleCondition = Schema.Union([
  SingleCondition,
  Schema.Struct({ is: Schema.Literal("all"), of: Combined }),
]);
export type RoleCondition = typeof RoleCondition.Type;

/** Returns the conditions that a member has to meet, which are one for most rules. @internal */
export const conditionsIn = (when: RoleCondition): ReadonlyArray<SingleCondition> =>
  when.is === "all" ? when.of : [when];

/** Returns a condition, or the one whose opposite it is. @internal */
export const plainOf = (when: SingleCondition): PlainCondition => (when.is === "not" ? when.of : when);

/** Combines 1 to 5 conditions into the condition of a rule. @internal */
export const allOf = (of: ReadonlyArray<SingleCondition>): RoleCondition => {
  const [only] = of;
  return only !== undefined && of.length === 1 ? only : { is: "all", of };
};

/** Returns the name of a condition's kind. @internal */
export const kindOf = (condition: SingleCondition): RuleKindName => {
  const when = plainOf(condition);
  return when.is === "owner" ? (itemRules.find((item) => item === when.item) ?? "owner") : when.is;
};

/** Any row of the table. The condition has the row's kind, so the row takes the condition. @internal */
export const rowOf = (name: RuleKindName): RuleKind<PlainCondition> =>
  ruleKinds[name] as unknown as RuleKind<PlainCondition>;

/** Returns the kind's name if a text, such as a field of a form, is one. @internal */
export const ruleKindNamed = (text: string): RuleKindName | undefined =>
  ruleKindNames.find((name) => name === text);

/** Returns what each condition of a rule needs. @internal */
export const needsOf = (when: RoleCondition): ReadonlyArray<Needs> =>
  conditionsIn(when).map((each) => rowOf(kindOf(each)).needs(plainOf(each)));

/** Returns the roles of members that conditions ask for. @internal */
export const rolesAskedIn = (when: RoleCondition): ReadonlyArray<string> =>
  conditionsIn(when).flatMap((each) => {
    const plain = plainOf(each);
    return plain.is === "role" ? [plain.roleId] : [];
  });

/** The opposite of a condition about an item that does not exist is unknown, since else every member would meet it. */
const isMet = (when: SingleCondition, candidate: Candidate): boolean | null => {
  const [row, plain] = [rowOf(kindOf(when)), plainOf(when)];
  const met = row.holds(plain, candidate);
  if (when.is !== "not" || met === null) return met;
  const { item } = row.needs(plain);
  const isMissing = item !== undefined && candidate.game?.items.get(itemKey(item)) === "no_item";
  return isMissing ? null : !met;
};

/** Returns of each condition of a rule whether it is met; null if the answer is unknown. @internal */
export const metIn = (when: RoleCondition, candidate: Candidate): ReadonlyArray<boolean | null> =>
  conditionsIn(when).map((each) => isMet(each, candidate));

/**
 * Returns whether each condition of a rule is met; null if the answer is unknown. One that is not met decides, whatever
 * is unknown about the others. @internal
 */
export const holds = (when: RoleCondition, candidate: Candidate): boolean | null => {
  const met = new Set(metIn(when, candidate));
  if (met.has(false)) return false;
  return met.has(null) ? null : true;
};

/** @internal */
export const noFields: TypedFields = {
  days: "",
  roleId: "",
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
  ...rowOf(kindOf(when)).typed(plainOf(when)),
});

/** @internal */
export const decodeCondition = Schema.decodeUnknownOption(PlainCondition);

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
): PlainCondition | ReadonlyArray<FieldProblem> => {
  const { parts = [], untyped } = rowOf(name);
  const asked = parts.flatMap((part): ReadonlyArray<RuleField> => ruleParts[part]);
  const problems = asked
    .filter((field) => !ruleFields[field].isValid(fields[field]))
    .map((field) => ({ field, expected: ruleFields[field].expected }));
  if (problems.length > 0) return problems;
  // Each field is right, so only the order of two ranks can be wrong.
  return Option.getOrElse(decodeCondition(untyped(fields)), () => [
    { field: "maxRank" as const, expected: "ranks" as const },
  ]);
};
