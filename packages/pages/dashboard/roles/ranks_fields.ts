/** The part of a role plan's form that makes one rule for each rank of a group. */
import type { RankedGroup } from "@accountlink/core/platforms";
import { mostRules } from "@accountlink/core/roles";
import { type Html, html, to } from "../../html.ts";
import { focusOn, textField } from "../look/field.ts";
import { platforms } from "../look/names.ts";
import type { NamedRoles } from "../look/remedies.ts";
import { capitalised, say } from "../look/say.ts";
import { numberHtml } from "../look/time.ts";
import { filledRules, type RolesForm, ranksWithoutRole, rulesOfRanks } from "./role_form.ts";

export interface RanksView extends NamedRoles {
  /** A group whose ranks the owner wants to make rules of; null if none was asked for. */
  readonly ranked: RankedGroup | null;
  /** Whether to ask before the bot makes the roles that ranks of the group lack. */
  readonly asksForRoles: boolean;
  /** The page that gives the bot the right to make roles, or null. */
  readonly invite: string | null;
}

/** Asks for a group, and shows which of its ranks would become rules. */
export const ranksFields = (view: RanksView, { rules: typed, ranksOf }: RolesForm): Html => {
  const { ranked, roles } = view;
  const rules = filledRules(typed);
  const found = ranked === null ? [] : rulesOfRanks(ranked, roles, rules);
  const [added, left] = [found.slice(0, mostRules - rules.length), found.slice(mostRules - rules.length)];
  const nameOfRole = new Map(roles.map(({ id, name }) => [id, name]));
  return html`
<details${ranksOf !== "" && html` open`} id="ranks">
<summary>${say("ranks.title")}</summary>
${textField({
  name: "ranksOf",
  label: say("ranks.group"),
  hint: say("ranks.group.hint", { platform: platforms.game }),
  value: ranksOf,
  maxLength: 300,
})}
<p class="row"><button class="button quiet small" name="act" value="ranks">${say("ranks.show")}</button></p>
${
  ranked !== null &&
  html`<div role="status">
<p>${capitalised(say("ranks.has", { count: ranked.ranks.length, group: ranked.name ?? say("rule.group", { id: ranked.id }) }))} ${
    added.length === 0 ? say("ranks.no_further") : say("ranks.with_role", { count: added.length })
  }</p>
<ul>${added.map(({ roleId, conditions }) => html`<li>${say("ranks.entry", { role: nameOfRole.get(roleId) ?? roleId, rank: conditions[0]?.minRank ?? "" })}</li>`)}</ul>
${
  left.length > 0 &&
  html`<p>${say("ranks.too_many", { count: left.length, most: numberHtml(mostRules) })}</p>`
}
${
  added.length > 0 &&
  html`<p class="row"><button class="button small" name="act" value="addRanks">${say("ranks.add", { count: added.length })}</button></p>`
}
${missingRoles(view, ranked)}
</div>`
}
</details>`;
};

/** Offers to make the roles that ranks lack. Asks first, and names them. */
const missingRoles = ({ roles, asksForRoles, invite }: RanksView, ranked: RankedGroup): Html | null => {
  const missing = ranksWithoutRole(ranked, roles).slice(0, mostRules);
  if (missing.length === 0) return null;
  const names = html`<ul>${missing.map((name) => html`<li>${name}</li>`)}</ul>`;
  const count = missing.length;
  if (!asksForRoles)
    return html`<p>${say("ranks.without_role", { count })}</p>${names}<p class="row"><button class="button quiet small"
      name="act" value="missing">${say("ranks.missing")}</button></p>`;
  return html`
<div class="notice warn">
<p>${say("ranks.makes", { count, platform: platforms.chat })}</p>
${names}
<p>${say("ranks.needs_right")}${invite !== null && html` <a href="${to(invite)}" rel="noreferrer">${say("ranks.give_right")}</a>`}</p>
<p class="row"><button class="button small" name="act" value="makeRoles"${focusOn("makeRoles")}>${say("ranks.make", { count })}</button>
<button class="button quiet small" name="act" value="ranks">${say("ranks.make_none")}</button></p>
</div>`;
};

/** The roles to choose from. The chosen roles that were deleted are among them, so that saving changes nothing. */
export const roleChoices = (
  { roles }: NamedRoles,
  chosen: ReadonlyArray<string>,
  labelOf: (name: string, assignable: boolean) => string | Html = (role, assignable) =>
    assignable ? role : say("rule.role_above", { role }),
) => [
  ...roles.map(({ id, name, assignable }) => ({ value: id, label: labelOf(name, assignable) })),
  ...chosen
    .filter((roleId) => !roles.some(({ id }) => id === roleId))
    .map((roleId) => ({ value: roleId, label: say("rule.role_deleted", { id: roleId }) })),
];
