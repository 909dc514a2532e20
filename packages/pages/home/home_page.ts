/** The first page of the service: it introduces the service and links to its parts. */
import { type Html, html } from "../html.ts";
import type { Language, PlainKey } from "../languages/language.ts";
import type { Page } from "../page.ts";
import type { Reader } from "../page_render.ts";

export const homePage = (reader: Reader): Page => {
  const { language, withoutSignIns = false, toTry = [] } = reader;
  return {
    title: "accountlink",
    content: html`
<h1>accountlink</h1>
<p>${language.text("home.intro", reader)}</p>
${picture(reader)}
${toTry.length === 0 ? null : trials(toTry)}
${
  withoutSignIns
    ? null
    : html`
${ways(language, "home.players", [
  ["/go", "home.code"],
  ["/me", "home.data"],
])}
${ways(language, "home.owners", [["/dashboard", "home.dashboard"]])}`
}
${ways(language, "home.developers", [["/docs", "home.reference"]])}`,
  };
};

const trials = (things: NonNullable<Reader["toTry"]>): Html => html`
<section lang="en" dir="ltr">
<h2>Try this demo</h2>
<p>Nobody here is real. Each link signs you in as one person.</p>
<ul class="ways" role="list">
${things.map(({ url, person, note }) => html`<li><a href="${url}"><strong>${person}</strong> <small>${note}</small></a></li>`)}
</ul>
</section>`;

const picture = (reader: Reader): Html => {
  const { language } = reader;
  // The way through the picture starts where lines of text start.
  const [first, last] = language.dir === "rtl" ? [265, 35] : [35, 265];
  return html`
<figure>
<svg viewBox="0 0 300 70" role="img" aria-labelledby="flow"><title id="flow">${language.text("home.picture", reader)}</title>
<g class="way" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"><circle cx="35" cy="28" r="16"/><circle cx="35" cy="24" r="5"/><path d="M26 38a10 10 0 0 1 18 0"/>
<rect x="249" y="14" width="32" height="28" rx="8"/><path d="M257 28h8m-4-4v8m10-6h.1m4 4h.1"/>
<g class="good"><rect x="120" y="20" width="34" height="16" rx="8"/><rect x="146" y="20" width="34" height="16" rx="8"/></g>
<path stroke-dasharray="3 5" d="M60 28h52m76 0h52"/></g>
<g fill="currentColor" font-size="11" text-anchor="middle"><text x="${first}" y="62">${language.text("home.picture.first")}</text><text x="150" y="62">${language.text("home.picture.third")}</text><text x="${last}" y="62">${language.text("home.picture.second")}</text></g></svg>
</figure>`;
};

type Way = "home.code" | "home.data" | "home.dashboard" | "home.reference";

const ways = (
  language: Language,
  heading: PlainKey,
  links: ReadonlyArray<readonly [string, Way]>,
): Html => html`
<h2>${language.text(heading)}</h2>
<ul class="ways" role="list">
${links.map(([path, name]) => html`<li><a href="${path}"><strong>${language.text(name)}</strong> <small>${language.text(`${name}.note`)}</small></a></li>`)}
</ul>`;
