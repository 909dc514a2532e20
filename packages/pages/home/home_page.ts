/** The first page of the service: it introduces the service and links to its parts. */
import type { GameProof } from "@accountlink/core/links";
import { type Html, html, to } from "../html.ts";
import type { Language, PlainKey } from "../languages/language.ts";
import type { Page } from "../page.ts";
import type { Reader } from "../page_render.ts";

/**
 * @param addBot the page of the chat platform that adds the bot to a community; null if there is none
 * @param proofs the ways to prove a game account
 */
export const homePage = (reader: Reader, addBot: string | null, proofs: ReadonlyArray<GameProof>): Page => {
  const { language, chatName, withoutSignIns = false, toTry = [] } = reader;
  return {
    title: "accountlink",
    content: html`
<h1>accountlink</h1>
<p>${language.text("home.intro", reader)}</p>
${picture(reader)}
${toTry.length > 0 && trials(toTry)}
${
  !withoutSignIns &&
  html`
${ways(
  language,
  "home.players",
  [wayTo(language, "/go", "home.code"), wayTo(language, "/me", "home.data")],
  html`<p>${language.text("home.proof", reader)}</p>
<ul>${proofs.map((proof) => html`<li>${language.text(`home.proof.${proof}`, reader)}</li>`)}</ul>`,
)}
${ways(
  language,
  "home.owners",
  [
    addBot === null
      ? []
      : [
          {
            url: addBot,
            name: language.capitalised(language.text("home.add", { chatName })),
            note: language.text("home.add.note"),
          },
        ],
    wayTo(language, "/dashboard", "home.dashboard"),
  ].flat(),
  html`<p>${language.text("home.owners.text")}</p>`,
)}`
}
${ways(language, "home.developers", [wayTo(language, "/docs", "home.reference")])}`,
  };
};

const trials = (things: NonNullable<Reader["toTry"]>): Html => html`
<section lang="en" dir="ltr">
<h2>Try this demo</h2>
<p>Nobody here is real. Each link signs you in as one person.</p>
<ul class="ways" role="list">
${things.map(({ url, person, note }) => html`<li><a href="${to(url)}"><strong>${person}</strong> <small>${note}</small></a></li>`)}
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

interface Way {
  readonly url: string;
  readonly name: string;
  readonly note: string;
}

const wayTo = (
  language: Language,
  url: string,
  name: "home.code" | "home.data" | "home.dashboard" | "home.reference",
): Way => ({ url, name: language.text(name), note: language.text(`${name}.note`) });

const ways = (
  language: Language,
  heading: PlainKey,
  links: ReadonlyArray<Way>,
  intro: Html | null = null,
): Html => html`
<h2>${language.text(heading)}</h2>
${intro}
<ul class="ways" role="list">
${links.map(({ url, name, note }) => html`<li><a href="${to(url)}"><strong>${name}</strong> <small>${note}</small></a></li>`)}
</ul>`;
