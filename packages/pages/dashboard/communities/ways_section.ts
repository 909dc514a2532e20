/** How the members of a community confirmed their links. */
import type { LinkProof } from "@accountlink/core/links";
import type { LinkWays } from "@accountlink/core/owners";
import { type Html, html, section } from "../../html.ts";
import { platforms } from "../look/names.ts";
import { say } from "../look/say.ts";
import { numberHtml } from "../look/time.ts";

/** How links were confirmed, in the order in which the page counts them. */
export const wayLabels = [
  ["connection", say("community.way.connection", platforms)],
  ["oauth", say("community.way.oauth", platforms)],
  ["words", say("community.way.words", platforms)],
  ["session", say("community.way.session")],
  ["known", say("community.way.known")],
  ["hand", say("community.way.hand")],
  ["import", say("community.way.import")],
  [null, say("community.way.unknown")],
] as const satisfies ReadonlyArray<readonly [LinkProof, Html]>;

export const waysSection = (byWay: LinkWays | null): Html => section(say("community.ways"), "ways")`
${
  byWay === null
    ? html`<p data-live>${say("community.ways.counting")}</p>`
    : html`<dl class="figures">${wayLabels
        .map(([way, label]) => [label, byWay.ways.get(way) ?? 0] as const)
        .filter(([, count]) => count > 0)
        .map(([label, count]) => html`<div><dt>${label}</dt><dd>${numberHtml(count)}</dd></div>`)}</dl>`
}`;
