/** What stands around a role plan: rules of others, and linking without rules. */

import type { GuildId } from "@accountlink/core";
import { type Html, html, section } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { panelTo } from "../look/field.ts";
import { listText } from "../look/names.ts";
import { linkTo, say, tags } from "../look/say.ts";
import { paths, rolesPath, withQuery } from "../paths.ts";

/** Another list of the account, or another account; the account's name is null unless the visitor is a member. */
export type Rival = { readonly list: Community } | { readonly account: string | Html | null };

interface GuildView {
  readonly guildId: GuildId;
  /** Where other rules for this guild are on; null if none are. */
  readonly rival: Rival | null;
}

export const rivalNotice = ({ rival, guildId }: GuildView): Html | null =>
  rival && html`<div class="notice warn"><p>${rivalText(rival, guildId)}</p></div>`;

const rivalText = (rival: Rival, guildId: GuildId): Html => {
  if ("list" in rival)
    return say("roles.rival.list", {
      a: linkTo(withQuery(rolesPath(rival.list.scope.pid), { guildId })),
      list: listText(rival.list),
    });
  return rival.account === null
    ? say("roles.rival.other")
    : say("roles.rival.account", { a: linkTo(paths.chooseAccount), account: rival.account });
};

/** Lets an owner turn linking on before choosing any role. @param action the address of the form */
export const linkingSection = ({ rival, guildId }: GuildView, action: string): Html | null =>
  rival && "list" in rival
    ? null
    : section(say("roles.linking"))`
${panelTo(action, { guildId })`
<p>${say("roles.linking.text", { code: tags.code })}</p>
<p class="row"><button class="button quiet" name="act" value="linking">${say("roles.linking.button")}</button></p>`}`;
