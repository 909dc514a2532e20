/** The results of a search in all lists of links: links, and users without a link. */
import { html } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { textField } from "../look/field.ts";
import { listName } from "../look/list_name.ts";
import type { Page, Visitor } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import { type LinksView, linkLabels, linksTable, unlinkedNotice } from "./links_page.ts";

export interface Found extends Pick<LinksView, "links" | "byHand" | "next" | "unlinked"> {
  readonly community: Community;
}

export const foundPage = (
  search: string,
  found: ReadonlyArray<Found>,
  { platforms }: Pick<Visitor, "platforms">,
): Page => ({
  status: 200,
  title: "Search",
  section: "links",
  content: html`
<form method="get" action="${paths.links}" class="filters" role="search">
${textField({ name: "q", label: "Find in every list", hint: "ID or user name", type: "search", value: search, problems: [] })}
<button class="button quiet">Search</button>
</form>
${
  found.length === 0
    ? html`<p class="empty">Nobody was found for “${search}”. Enter the whole user name or ID.</p>`
    : found.map(({ community, links, byHand, next, unlinked }) => {
        const { pid } = community.scope;
        return html`
<section>
<h2>${listName(community)}</h2>
${unlinkedNotice(pid, unlinked)}
${links.length === 0 ? null : linksTable({ community, links, byHand, search, sort: "time" }, linkLabels(platforms))}
${next && html`<p class="more"><a class="button quiet" href="${withQuery(paths.links, { pid, q: search })}">All that were found here</a></p>`}
</section>`;
      })
}`,
});
