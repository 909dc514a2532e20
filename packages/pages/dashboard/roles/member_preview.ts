/** What rules would change for one member and why, and what keeps the bot from changing it. */
import type { ScopedGuild } from "@accountlink/core/communities";
import { isChatId } from "@accountlink/core/ids";
import { OwnedLinks } from "@accountlink/core/owners";
import {
  conditionsIn,
  type MemberChanges,
  type MemberPreview,
  metIn,
  type PlanDetails,
  type PlanProblem,
  type PlanSettings,
  plainOf,
  RolePlans,
  type RoleRule,
  rolesIn,
  type SingleCondition,
  unlinkedSince,
} from "@accountlink/core/roles";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { textField } from "../look/field.ts";
import { platforms } from "../look/names.ts";
import { type NamedRoles, type Obstacle, remedy, roleName } from "../look/remedies.ts";
import { listOf, say, separated, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { dayHtml } from "../look/time.ts";
import { makeNameSearch } from "../members/name_search.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { conditionPhrase, type RuleNames, ruleSentence } from "./rule_sentence.ts";

/** The problem of a field that names no member. */
export const nobodyNamed = { name: "who", reason: say("reason.nobody_in_community") };

export const whoField = (who: string): Html =>
  textField({
    name: "who",
    label: say("roles.try.who"),
    hint: say("roles.try.hint", { platform: platforms.chat }),
    value: who,
    required: true,
  });

export interface RolePreview {
  readonly who: string;
  /** Null if nobody was found. */
  readonly found: { readonly isLinked: boolean; readonly changes: MemberPreview } | null;
}

export interface RulesView extends NamedRoles {
  readonly details: { readonly status: Pick<PlanDetails["status"], "problems"> };
}

/** Says what the rules would change, one sentence each. */
export const changesHtml = (
  view: NamedRoles,
  { isLinked, changes }: { readonly isLinked: boolean; readonly changes: MemberChanges },
): Html => {
  const names = (roleIds: ReadonlyArray<string>) =>
    listOf(roleIds.filter((id) => mayChange(view, id)).map((id) => roleName(view, id)));
  const some = (roleIds: ReadonlyArray<string>) => roleIds.some((id) => mayChange(view, id));
  const { add, remove, nickname } = changes;
  const changed = [
    ...(some(add) ? [say("roles.try.gets", { roles: names(add) })] : []),
    ...(some(remove) ? [say("roles.try.loses", { roles: names(remove) })] : []),
    ...(nickname === null ? [] : [nicknameText(nickname)]),
  ];
  // Rules may give something without a link too, such as a role after some days.
  const givesNothing = !isLinked && !changes.holding.includes(true);
  const said = [
    ...(changed.length > 0 ? changed : [say(givesNothing ? "roles.try.nothing" : "roles.try.same")]),
    ...(changes.isInventoryPrivate ? [say("roles.try.private")] : []),
  ];
  return separated(said, " ");
};

const nicknameText = (nickname: string): Html =>
  nickname === "" ? say("roles.try.unnamed") : say("roles.try.named", { nickname });

const mayChange = ({ roles }: NamedRoles, roleId: string): boolean =>
  roles.some(({ id, assignable }) => id === roleId && assignable);

export const isApplicable = (view: NamedRoles, { add, remove, nickname }: MemberChanges): boolean =>
  nickname !== null || [...add, ...remove].some((roleId) => mayChange(view, roleId));

/** Lists the changes of a previewed member that the bot may not make, with what the owner can do. */
export const obstacles = (view: RulesView, { chatId, add, remove, nickname }: MemberChanges): Html => {
  const { roles, details } = view;
  const reasonOf = (roleId: string): PlanProblem["reason"] => {
    if (!roles.some(({ id }) => id === roleId)) return "role_missing";
    return roles.some(({ assignable }) => assignable) ? "role_above_bot" : "no_permission";
  };
  const refused = [
    ...[...add, ...remove]
      .filter((roleId) => !mayChange(view, roleId))
      .map((roleId): Obstacle => ({ roleId, reason: reasonOf(roleId) })),
    ...details.status.problems.filter(
      ({ chatIds, roleId, reason }) =>
        chatIds.includes(chatId) &&
        (roleId === null
          ? nickname !== null
          : reason === "role_refused" && [...add, ...remove].includes(roleId)),
    ),
  ];
  return html`${refused.map(
    (problem) =>
      html`<p class="problem">${
        problem.roleId === null
          ? say("roles.obstacle.nickname")
          : say("roles.obstacle.role", { role: roleName(view, problem.roleId) })
      } ${remedy(view, problem)}</p>`,
  )}`;
};

/** What the rules would change for the member, and whether each rule holds. */
export const previewHtml = (
  names: RuleNames,
  rules: ReadonlyArray<RoleRule>,
  { who, found }: RolePreview,
): Html | false =>
  found !== null &&
  html`<p>${say(found.isLinked ? "roles.try.linked" : "roles.try.unlinked", { b: tags.b, who })} ${changesHtml(names, found)}</p>
${becauseHtml(names, rules, found.changes)}`;

const answer = (isMet: boolean | null): Html =>
  isMet === null
    ? say("roles.try.unknown", { platform: platforms.game })
    : say(isMet ? "roles.try.yes" : "roles.try.no");

const becauseHtml = (
  names: RuleNames,
  rules: ReadonlyArray<RoleRule>,
  { holding, candidate }: MemberPreview,
): Html | null => {
  if (rules.length === 0) return null;
  if (holding.length === 0) return html`<p>${say("roles.try.left_alone")}</p>`;
  return tableHtml({
    id: "because",
    caption: say("roles.try.because"),
    columns: [
      [say("roles.rules"), (rule) => ruleSentence(names, rule)],
      [say("roles.try.holds"), (_, index) => answer(holding[index] ?? null)],
      [say("roles.try.why"), (rule) => whyHtml(names, rule, candidate)],
    ],
    rows: rules,
  });
};

const whyHtml = (names: RuleNames, { when }: RoleRule, candidate: MemberPreview["candidate"]): Html => {
  const met = metIn(when, candidate);
  const conditions = conditionsIn(when);
  const why = conditions.map((condition, part) => {
    const fact = factOf(condition, candidate);
    if (conditions.length === 1) return fact;
    const said = { condition: conditionPhrase(names, condition), answer: answer(met[part] ?? null) };
    return html`${say("roles.try.part", said)}${fact && html` ${fact}`}`;
  });
  return separated(
    why.filter((each) => each !== null),
    " ",
  );
};

/** What is known of the member for a condition; null if the condition says it. */
const factOf = (condition: SingleCondition, candidate: MemberPreview["candidate"]): Html | null => {
  const { game } = candidate;
  const plain = plainOf(condition);
  if (plain.is === "role") return null;
  if (plain.is === "unlinked") {
    if (game !== null) return say("roles.try.has_link");
    const since = unlinkedSince(candidate);
    return since === null ? null : say("roles.try.since", { day: dayHtml(since) });
  }
  if (game === null) return say("roles.try.not_linked");
  if (plain.is === "group") {
    const ranks = rolesIn(game, plain.groupId);
    if (ranks === null) return null;
    return ranks.length === 0
      ? say("roles.try.no_member")
      : say("roles.try.rank", { ranks: listOf(ranks.map((role) => role?.name ?? "–")) });
  }
  const created = plain.is === "age" ? game.profile?.created : null;
  return created ? say("roles.try.created", { day: dayHtml(Date.parse(created)) }) : null;
};

/** Makes a function that compares one member, by ID or user name, with the stored rules or the rules of a preview. */
export const makePreviewedMember = Effect.gen(function* () {
  const plans = yield* RolePlans;
  const links = yield* OwnedLinks;
  const findByName = yield* makeNameSearch;

  /** @param who an ID or a user name */
  return (visitor: OwnerVisitor, guild: ScopedGuild, who: string, settings?: PlanSettings) =>
    Effect.gen(function* () {
      const chatId = isChatId(who) ? who : yield* findByName(who, visitor);
      const changes = yield* plans.preview(guild, chatId, settings);
      const isLinked = (yield* links.find(guild.scope, chatId)) !== null;
      return { who, found: { isLinked, changes } } satisfies RolePreview;
    }).pipe(
      Effect.catchTag(["InvalidParameter", "Forbidden"], () =>
        Effect.succeed<RolePreview>({ who, found: null }),
      ),
    );
});
