/** The page that asks before the data of a list is deleted. */
import type { RolePlan } from "@accountlink/core/roles";
import { html } from "../../html.ts";
import { confirmForm, deletionLabels, linksOf } from "../look/deletion.ts";
import { checkField } from "../look/field.ts";
import { communityName } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { linkTo, say, tags } from "../look/say.ts";
import type { Page } from "../page.ts";
import { communityPath, deleteDataPath, paths, rolesPath, withQuery } from "../paths.ts";
import type { Community, CountedCommunity } from "./community.ts";

/**
 * @param name the text that the owner has to type
 * @param plans the role plans of the list that are on
 * @param keepsBlocks whether the refused form keeps the blocks
 */
export const dataDeletionPage = (
  community: CountedCommunity,
  {
    name,
    plans,
    blocks,
  }: {
    readonly name: string;
    readonly plans: ReadonlyArray<Pick<RolePlan, "unlinked">>;
    readonly blocks: number;
  },
  refused: Refused | null,
  keepsBlocks = true,
): Page => {
  const { scope } = community;
  return {
    title: say("deletion.data"),
    section: "communities",
    refused,
    labels: deletionLabels,
    content: html`
<p>${say("deletion.data.from", { b: tags.b, name: communityName(community) })}</p>
<ul>
<li>${linksOf([community])}</li>
<li>${say("deletion.data.running")}</li>
</ul>
<p>${say("deletion.data.stays")}</p>
${
  plans.length > 0 &&
  html`<p class="problem">${say(
    plans.every(({ unlinked }) => unlinked === "keep") ? "deletion.data.roles_kept" : "deletion.data.roles",
    { a: linkTo(rolesPath(scope.pid)) },
  )}</p>`
}
<p>${say("deletion.undo")} ${say("deletion.file_again", { a: linkTo(withQuery(paths.linksFile, { pid: scope.pid })) })}</p>
${confirmForm({
  action: deleteDataPath(scope.pid),
  back: communityPath(scope.pid),
  name,
  label: say("deletion.data.button"),
  more:
    blocks === 0
      ? null
      : checkField(
          "keepBlocks",
          say("deletion.data.blocks", {
            count: blocks,
            a: linkTo(withQuery(paths.blocksFile, { pid: scope.pid })),
          }),
          refused === null || keepsBlocks,
        ),
})}`,
  };
};

/** The name that an owner types to delete the data of a list: the shared list is called as the account is. */
export const deletionName = ({ scope, guildName }: Community, accountName: string): string =>
  scope.kind === "global" ? accountName : (guildName ?? scope.guildId);
