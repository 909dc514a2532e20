/** The page of the way `words`: it asks for a user name, then shows the words and where they go. */
import type { FlowView, NamedAccount, WordsView } from "@accountlink/core/flow";
import { longestUsername } from "@accountlink/core/platforms";
import { cardHtml, chatCard, gameCard } from "../account_card.ts";
import { type Html, html, to } from "../html.ts";
import { own } from "../languages/language.ts";
import type { Page } from "../page.ts";
import { form, queryOf } from "./flow_form.ts";
import { askingHtml, declineHtml, type FlowReader, supportNote, timeLeft } from "./pages.ts";

export const wordsScriptPath = "/verify/words.js";

/** Adds the button that copies the words, and lets a reload show the page without sending its form again. */
export const wordsScript = `for (const button of document.querySelectorAll("[data-copies]")) {
  const words = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(words.textContent);
    } catch {
      // Browsers hide the clipboard from pages that are not https.
      getSelection().selectAllChildren(words);
      document.execCommand("copy");
    }
    button.textContent = button.dataset.copied;
  });
}
for (const page of document.querySelectorAll("[data-leaves-for]")) {
  history.replaceState(null, "", page.dataset.leavesFor);
}
`;

export interface WordsReader extends FlowReader {
  /** Whether the game platform shows user names behind an `@`. */
  readonly hasAtNames: boolean;
}

const statuses = { unknown_name: 404, not_there: 409 } as const;

export const wordsPage = (
  { view, problem }: Pick<WordsView, "view" | "problem">,
  reader: WordsReader,
  now: number,
  typed = "",
): Page => {
  const { language } = reader;
  const { named } = view;
  const address = `/verify/game/words?${queryOf(view.entry)}`;
  const title = language.text("words.title", reader);
  const picture = named === null ? null : gameCard(named, language).picture;
  return {
    status: problem === null ? 200 : statuses[problem],
    title,
    address,
    pictures: picture === null ? [] : [picture],
    csrf: view.csrf,
    script: wordsScriptPath,
    content: html`
<div data-leaves-for="${to(address)}">
<p class="asking">${askingHtml(view, reader)}</p>
<h1>${title}</h1>
${
  named === null || problem === "unknown_name"
    ? html`<p>${language.text("words.intro", reader)}</p>${nameForm(view, reader, problem, typed)}`
    : html`${instructions(view, named, reader, problem)}
<details class="choice"><summary>${language.text("flow.other_account", { platform: reader.gameName })}</summary>${nameForm(view, reader, null, "")}</details>`
}
${declineHtml(view, language.text("flow.cancel"), reader)}
${supportNote(view, reader)}
<p class="aside">${timeLeft(view.expiresAt, now, reader)}</p>
</div>`,
  };
};

const nameOf = ({ chat }: FlowView, { language }: FlowReader): string =>
  chat === null ? "" : chatCard(chat, language).name;

const nameForm = (
  view: FlowView,
  { language, gameName, hasAtNames }: WordsReader,
  problem: WordsView["problem"],
  typed: string,
): Html =>
  form("/verify/game/words", view)`
<p class="named"><label for="username">${language.text("words.name", { gameName })}</label>
<input id="username" name="username" value="${typed.slice(0, longestTyped)}" required maxlength="${longestTyped}" dir="auto"
autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false"
enterkeyhint="go"${problem !== null && html` aria-invalid="true" aria-describedby="problem" autofocus`}></p>
${problem !== null && html`<p class="problem" id="problem" role="alert">${language.text(hasAtNames ? "words.unknown_name" : "words.unknown_name.spelling", { gameName })}</p>`}
<button class="button">${language.text("code.continue")}</button>`;

/** In UTF-16, as browsers count: the longest user name, with an `@` and spaces around it. */
const longestTyped = 2 * longestUsername + 10;

const instructions = (
  view: FlowView,
  named: NamedAccount,
  reader: FlowReader,
  problem: WordsView["problem"],
): Html => {
  const { language, gameName } = reader;
  return html`
<p class="who">${language.text("words.question")}</p>
${cardHtml(gameCard(named, language))}
<p>${language.html("words.links", { asking: own(view.asking), account: own(nameOf(view, reader)), chatName: reader.chatName })}</p>
${problem !== null && html`<p class="problem" role="alert">${language.text("words.not_there", { gameName })}</p>`}
<ol class="steps" role="list">
<li><h2>${language.text("words.copy.step")}</h2>
<p class="words" id="words" lang="en" dir="ltr" translate="no">${named.words}</p>
<p><button class="button quiet" type="button" hidden data-copies="words" data-copied="${language.text("words.copied")}"
aria-live="polite">${language.text("words.copy")}</button></p></li>
<li><h2>${language.text("words.put.step", { gameName })}</h2>
${
  named.descriptionPage !== null &&
  html`<p>${language.html("words.put", { path: html`<b>${language.text("words.path")}</b>` })}</p>
<p><a class="button quiet" href="${to(named.descriptionPage)}" target="_blank"
      rel="noreferrer"><span>${language.capitalised(language.text("words.open", { gameName }))}</span></a></p>`
}</li>
<li><h2>${language.text("words.back.step")}</h2>
${form("/verify/game/words/check", view)`<button class="button">${language.text("words.check")}</button>`}</li>
</ol>`;
};
