import { GuildId } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Digits, RoleRule } from "@accountlink/core/roles";
import { Effect, Option, Schema } from "effect";
import { Flag } from "effect/cli";
import { accountFlag, textFlag } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";

export const planFlags = {
  account: accountFlag.pipe(Flag.withDescription("Account of the plan")),
  guildId: textFlag("guild-id", Schema.is(GuildId), "5 to 32 digits").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Guild of the plan"),
    Flag.map((id) => id as GuildId),
  ),
  scope: Flag.Literals("scope", ["global", "guild"]).pipe(
    Flag.withDescription("Whether links of the account's global data scope count, or of the guild's"),
    Flag.withDefault("guild"),
  ),
};

interface PlanChoice {
  readonly account: string;
  readonly guildId: GuildId;
  readonly scope: "global" | "guild";
}

export const scopeOfPlan = Effect.fnUntraced(function* ({ account, guildId, scope: kind }: PlanChoice) {
  const target = kind === "guild" ? ({ kind, guildId } as const) : { kind };
  const found = yield* (yield* KeyStore).findScope(account, target);
  if (Option.isSome(found)) return found.value;
  const scope = kind === "guild" ? `scope for guild ${guildId}` : "global scope";
  return yield* new CommandFailed({ problem: `Cannot find the plan: account "${account}" has no ${scope}` });
});

const rulePattern =
  /^(?<roleId>\d{1,32})=(?:(?<is>linked|unlinked)|group:(?<groupId>\d{1,32})(?::(?<min>\d{0,9})-(?<max>\d{0,9}))?|(?<item>gamepass|badge|asset):(?<itemId>\d{1,32})|age:(?<minDays>\d{1,5}))$/;

const ruleOf = (text: string): Option.Option<RoleRule> => {
  const { roleId, ...parts } = rulePattern.exec(text)?.groups ?? {};
  return roleId === undefined ? Option.none() : decodeRule({ roleId, when: conditionOf(parts) });
};

const decodeRule = Schema.decodeUnknownOption(RoleRule);

const conditionOf = ({ is, groupId, min, max, item, itemId, minDays }: Partial<Record<string, string>>) => {
  if (is !== undefined) return { is };
  if (groupId !== undefined) return { is: "group", groupId, minRank: rankOf(min), maxRank: rankOf(max) };
  return item === undefined ? { is: "age", minDays: Number(minDays) } : { is: "owner", item, itemId };
};

const rankOf = (rank = ""): number | null => (rank === "" ? null : Number(rank));

/** Formats a rule as `--rule` accepts it. */
export const ruleText = ({ roleId, when }: RoleRule): string => {
  switch (when.is) {
    case "linked":
    case "unlinked":
      return `${roleId}=${when.is}`;
    case "group": {
      const { groupId, minRank, maxRank } = when;
      const ranks = minRank === null && maxRank === null ? "" : `:${minRank ?? ""}-${maxRank ?? ""}`;
      return `${roleId}=group:${groupId}${ranks}`;
    }
    case "owner":
      return `${roleId}=${when.item}:${when.itemId}`;
    case "age":
      return `${roleId}=age:${when.minDays}`;
  }
};

export const idFlag = (name: string, description: string) =>
  textFlag(name, Schema.is(Digits), "1 to 32 digits").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription(description),
    Flag.optional,
  );

export const rulesFlag = Flag.String("rule").pipe(
  Flag.filterMap(
    ruleOf,
    () =>
      "expected <role>=linked, unlinked, group:<id>:<min>-<max>, gamepass:<id>, badge:<id>, asset:<id> or age:<days>",
  ),
  Flag.withMetavar("rule"),
  Flag.withDescription(
    "A role and the members who get it: <role>= and linked, unlinked, group:<id>, group:<id>:<min>-<max>, gamepass:<id>, badge:<id>, asset:<id> or age:<days>; can be repeated, and replaces all rules",
  ),
  Flag.atLeast(0),
);
