/** The part of a role plan's form that makes one rule for each rank of a group. */
import type { GuildRole, RankedGroup } from "@accountlink/core/platforms";
import { mostRules } from "@accountlink/core/roles";
import { type Html, html, to } from "../../html.ts";
import { textField } from "../look/field.ts";
import type { Refused } from "../look/refused.ts";
import { counted } from "../look/time.ts";
import type { Visitor } from "../page.ts";
import { filledRules, type RolesForm, ranksWithoutRole, rulesOfRanks } from "./role_form.ts";

export interface RanksView {
  /** Highest first. */
  readonly roles: ReadonlyArray<GuildRole>;
  /** A group whose ranks the owner wants to make rules of; null if none was asked for. */
  readonly ranked: RankedGroup | null;
  /** Whether to ask before the bot makes the roles that ranks of the group lack. */
  readonly asksForRoles: boolean;
  /** The page that gives the bot the right to make roles; null if there is none. */
  readonly invite: string | null;
}

/** Asks for a group, and shows which of its ranks would become rules. */
export const ranksFields = (
  view: RanksView,
  { rules: typed, ranksOf }: RolesForm,
  { platforms }: Pick<Visitor, "platforms">,
  problems: Refused["problems"],
): Html => {
  const { ranked, roles } = view;
  const rules = filledRules(typed);
  const found = ranked === null ? [] : rulesOfRanks(ranked, roles, rules);
  const [added, left] = [found.slice(0, mostRules - rules.length), found.slice(mostRules - rules.length)];
  const nameOfRole = new Map(roles.map(({ id, name }) => [id, name]));
  return html`
<details${ranksOf === "" ? null : html` open`} id="ranks">
<summary>One rule for each rank of a group</summary>
${textField({
  name: "ranksOf",
  label: "Group of the ranks",
  hint: `ID or address of the group on ${platforms.game}. Ranks find the roles that have their name.`,
  value: ranksOf,
  maxLength: 300,
  problems,
})}
<p class="row"><button class="button quiet small" name="act" value="ranks">Show its ranks</button></p>
${
  ranked === null
    ? null
    : html`<div role="status">
<p>${ranked.name ?? `Group ${ranked.id}`} has ${counted(ranked.ranks.length, "rank")}. ${
        added.length === 0
          ? "No further rank has a role of the same name."
          : html`${counted(added.length, "rank")} with a role of the same name:`
      }</p>
<ul>${added.map(({ roleId, conditions }) => html`<li>${nameOfRole.get(roleId) ?? roleId} (rank ${conditions[0]?.minRank ?? ""})</li>`)}</ul>
${
  left.length === 0
    ? null
    : html`<p>${counted(left.length, "further rank")} would be more than the ${mostRules} rules that a plan can have.</p>`
}
${
  added.length === 0
    ? null
    : html`<p class="row"><button class="button small" name="act" value="addRanks">Add ${counted(added.length, "rule")}</button></p>`
}
${missingRoles(view, ranked, platforms.chat)}
</div>`
}
</details>`;
};

/** Offers to make the roles that ranks lack. Asks first, and names them. */
const missingRoles = (
  { roles, asksForRoles, invite }: RanksView,
  ranked: RankedGroup,
  chat: string,
): Html | null => {
  const missing = ranksWithoutRole(ranked, roles).slice(0, mostRules);
  if (missing.length === 0) return null;
  const names = html`<ul>${missing.map((name) => html`<li>${name}</li>`)}</ul>`;
  const what = counted(missing.length, "role");
  if (!asksForRoles)
    return html`<p>${counted(missing.length, "rank")} without a role of the same
      name:</p>${names}<p class="row"><button class="button quiet small" name="act" value="missing">Make the missing
      roles</button></p>`;
  return html`
<div class="notice warn">
<p>The bot makes ${what} on ${chat}, without rights and below all others:</p>
${names}
<p>It needs the right to manage roles.${invite === null ? null : html` <a href="${to(invite)}" rel="noreferrer">Give it the right</a>`}</p>
<p class="row"><button class="button small" name="act" value="makeRoles">Make ${what}</button>
<button class="button quiet small" name="act" value="ranks">Make none</button></p>
</div>`;
};

/** The roles to choose from. The chosen roles that were deleted are among them, so that saving changes nothing. */
export const roleChoices = (
  { roles }: Pick<RanksView, "roles">,
  chosen: ReadonlyArray<string>,
  labelOf = (name: string, assignable: boolean) => (assignable ? name : `${name} (the bot may not give it)`),
) => [
  ...roles.map(({ id, name, assignable }) => ({ value: id, label: labelOf(name, assignable) })),
  ...chosen
    .filter((roleId) => !roles.some(({ id }) => id === roleId))
    .map((roleId) => ({ value: roleId, label: `Role ${roleId} (deleted)` })),
];
