/** The first page of the service: it introduces the service and links to its parts. */
import type { GameProof } from "@accountlink/core/links";
import { type Html, html, to } from "../html.ts";
import type { PlainKey } from "../languages/language.ts";
import { directionOf } from "../languages/languages.ts";
import type { Page } from "../page.ts";
import type { PageSettingsShape } from "../page_settings.ts";
import { capitalised, inLanguage, plain, said } from "../said.ts";

/**
 * @param addBot the page of the chat platform that adds the bot to a community, or null
 * @param proofs the ways to prove a game account
 */
export const homePage = (
  { withoutSignIns = false, toTry = [] }: PageSettingsShape,
  addBot: string | null,
  proofs: ReadonlyArray<GameProof>,
): Page => ({
  title: "accountlink",
  content: html`
<h1>accountlink</h1>
<p>${said("home.intro")}</p>
${picture}
${toTry.length > 0 && trials(toTry)}
${
  !withoutSignIns &&
  html`
${ways(
  "home.players",
  [wayTo("/go", "home.code"), wayTo("/me", "home.data")],
  html`<p>${said("home.proof")}</p>
<ul>${proofs.map((proof) => html`<li>${said(`home.proof.${proof}`)}</li>`)}</ul>`,
)}
${ways(
  "home.owners",
  [
    ...(addBot === null ? [] : [way(addBot, capitalised(said("home.add")), said("home.add.note"))]),
    wayTo("/dashboard", "home.dashboard"),
  ],
  html`<p>${said("home.owners.text")}</p>`,
)}`
}
${ways("home.developers", [wayTo("/docs", "home.reference")])}`,
});

const trials = (things: NonNullable<PageSettingsShape["toTry"]>): Html => html`
<section lang="en" dir="ltr">
<h2>Try this demo</h2>
<p>Nobody here is real. Each link signs you in as one person.</p>
<ul class="ways" role="list">
${things.map(({ url, person, note }) => way(url, person, note))}
</ul>
</section>`;

const picture = inLanguage(({ tag }) => {
  // The way through the picture starts where lines of text start.
  const [first, last] = directionOf(tag) === "rtl" ? [265, 35] : [35, 265];
  return html`
<figure>
<svg viewBox="0 0 300 70" role="img" aria-labelledby="flow"><title id="flow">${plain(said("home.picture"))}</title>
<g class="way" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"><circle cx="35" cy="28" r="16"/><circle cx="35" cy="24" r="5"/><path d="M26 38a10 10 0 0 1 18 0"/>
<rect x="249" y="14" width="32" height="28" rx="8"/><path d="M257 28h8m-4-4v8m10-6h.1m4 4h.1"/>
<g class="good"><rect x="120" y="20" width="34" height="16" rx="8"/><rect x="146" y="20" width="34" height="16" rx="8"/></g>
<path stroke-dasharray="3 5" d="M60 28h52m76 0h52"/></g>
<g fill="currentColor" font-size="11" text-anchor="middle"><text x="${first}" y="62">${plain(said("home.picture.first"))}</text><text x="150" y="62">${plain(said("home.picture.third"))}</text><text x="${last}" y="62">${plain(said("home.picture.second"))}</text></g></svg>
</figure>`;
});

const way = (url: string, name: Html | string, note: Html | string): Html =>
  html`<li><a href="${to(url)}"><strong>${name}</strong> <small>${note}</small></a></li>`;

const wayTo = (url: string, name: "home.code" | "home.data" | "home.dashboard" | "home.reference"): Html =>
  way(url, said(name), said(`${name}.note`));

const ways = (heading: PlainKey, links: ReadonlyArray<Html>, intro: Html | null = null): Html => html`
<h2>${said(heading)}</h2>
${intro}
<ul class="ways" role="list">
${links}
</ul>`;
