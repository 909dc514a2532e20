/** The results of a search in all lists of links: links, and users without a link. */
import { type Html, html, section, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { filtersOf, textField } from "../look/field.ts";
import { communityName, idOrName } from "../look/names.ts";
import { say } from "../look/say.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import { type LinksView, linksTable, searchedFor, unlinkedNotice } from "./links_page.ts";

export interface Found extends Pick<LinksView, "links" | "next" | "unlinked"> {
  readonly community: Community;
  /** Whether the links were found by the users of other lists, because the search itself found nobody here. */
  readonly isByOthers: boolean;
}

export const foundPage = (search: string, found: ReadonlyArray<Found>): Page => ({
  title: say("links.search"),
  section: "links",
  content: html`
${filtersOf(paths.links, say("links.search"), "search")`
${textField({ name: "q", label: say("links.find_all"), hint: idOrName(null), type: "search", value: search })}`}
${
  found.every(isEmpty)
    ? html`<p class="empty">${say("links.nobody_for", { search })}</p>`
    : html`${found
        .filter((one) => !isEmpty(one))
        .map(({ community, isByOthers, links, next, unlinked }) => {
          const { pid } = community.scope;
          return section(communityName(community))`
<p class="hint">${say(isByOthers ? "links.searched_others" : "links.searched_by", { searched: searchedFor(community) })}</p>
${unlinkedNotice(pid, unlinked)}
${links.length > 0 && linksTable({ community, links, search, named: null })}
${
  next &&
  html`<p class="more"><a class="button quiet" href="${to(withQuery(paths.links, { pid, q: search }))}">${say("links.all_found")}</a></p>`
}`;
        })}`
}
${nobodyIn(found.filter(isEmpty).map(({ community }) => community))}`,
});

const isEmpty = ({ links, unlinked }: Found): boolean => links.length + unlinked.length === 0;

/** Names the lists in which nobody was found, and says how each was searched. */
const nobodyIn = (communities: ReadonlyArray<Community>): Html | false =>
  communities.length > 0 &&
  section(say("links.nobody_in"))`<ul>${communities.map(
    (community) =>
      html`<li>${say("links.nobody_in.list", { list: communityName(community), searched: searchedFor(community) })}</li>`,
  )}</ul>`;
