/** The page that asks before the data of a list is deleted. */
import type { RolePlan } from "@accountlink/core/roles";
import { html, to } from "../../html.ts";
import { confirmForm, deletionLabels, linksOf } from "../look/deletion.ts";
import type { Refused } from "../look/refused.ts";
import type { Page } from "../page.ts";
import { communityPath, deleteDataPath, paths, rolesPath, withQuery } from "../paths.ts";
import type { Community } from "./community.ts";

/** @param plans the role plans of the list that are on */
export const dataDeletionPage = (
  community: Community,
  { title, plans }: { readonly title: string; readonly plans: ReadonlyArray<Pick<RolePlan, "unlinked">> },
  refused: Refused | null,
): Page => {
  const { scope, keys } = community;
  return {
    title: "Delete the data?",
    section: "communities",
    refused,
    labels: deletionLabels,
    content: html`
<p>This deletes from <strong>${title}</strong>:</p>
<ul>
<li>${linksOf([community])}</li>
<li>Verifications and an import that are under way: they end without a link</li>
</ul>
<p>Its ${keys === 1 ? "key" : "keys"}, webhooks, texts and rules stay, and find nobody linked. Users can link again at any time.</p>
${
  plans.length === 0
    ? null
    : html`<p class="problem">Its rules for roles are on: ${
        plans.every(({ unlinked }) => unlinked === "keep")
          ? "members whose nickname the rules set lose it with their roles. All others count as never linked, and keep theirs."
          : "members lose the roles that need a link. If many would lose one, the rules pause first."
      }
      <a href="${to(rolesPath(scope.pid))}">Pause the rules first</a> and they keep them.</p>`
}
<p>Nobody can undo it. <a href="${to(withQuery(paths.linksFile, { pid: scope.pid }))}">Download the links as CSV</a> first: the
file can be imported again.</p>
${confirmForm({ action: deleteDataPath(scope.pid), back: communityPath(scope.pid), name: title, label: "Delete the data" }, refused)}`,
  };
};

/** The name that an owner types to delete the data of a list: the shared list is called as the account is. */
export const deletionName = (community: Community, accountTitle: string): string =>
  community.scope.kind === "global"
    ? accountTitle
    : (community.guildName ?? `Community ${community.scope.guildId}`);
