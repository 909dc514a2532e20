/** The page that asks before the data of a list is deleted. */
import { html, to } from "../../html.ts";
import { confirmForm, deletionLabels, linksOf } from "../look/deletion.ts";
import { communityName } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import type { Page } from "../page.ts";
import { communityPath, deleteDataPath, rolesPath } from "../paths.ts";
import type { Community } from "./community.ts";

/** @param plans the number of role plans of the list that are on */
export const dataDeletionPage = (
  community: Community,
  { title, plans }: { readonly title: string; readonly plans: number },
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
  plans === 0
    ? null
    : html`<p class="problem">Its rules for roles are on: members lose the roles that need a link.
      <a href="${to(rolesPath(scope.pid))}">Pause the rules first</a> and they keep them.</p>`
}
<p>Nobody can undo it.</p>
${confirmForm({ action: deleteDataPath(scope.pid), back: communityPath(scope.pid), name: title, label: "Delete the data" }, refused)}`,
  };
};

/** The name that an owner types to delete the data of a list: the shared list is called as the account is. */
export const deletionName = (community: Community, accountTitle: string): string =>
  community.scope.kind === "global" ? accountTitle : communityName(community);
