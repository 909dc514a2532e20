/** The page of the way `words`: it asks for a user name, then shows the words and where they go. */
import type { FlowView, NamedAccount, WordsView } from "@accountlink/core/flow";
import { longestUsername } from "@accountlink/core/platforms";
import { accountName, cardHtml, picturesOf } from "../account_card.ts";
import { type Html, html, to } from "../html.ts";
import { own } from "../languages/language.ts";
import type { Page } from "../page.ts";
import { capitalised, plain, platforms, said } from "../said.ts";
import { flowPath, form } from "./flow_form.ts";
import { askingHtml, declineHtml, supportNote, timeLeft } from "./pages.ts";

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

const statuses = { unknown_name: 404, not_there: 409 } as const;

/** @param hasAtNames whether the game platform shows user names behind an `@` */
export const wordsPage = (
  { view, problem }: Pick<WordsView, "view" | "problem">,
  hasAtNames: boolean,
  now: number,
  typed = "",
): Page => {
  const { named } = view;
  const address = flowPath(view.entry, "/game/words");
  const title = said("words.title");
  return {
    status: problem === null ? 200 : statuses[problem],
    title,
    address,
    pictures: picturesOf([named]),
    csrf: view.csrf,
    script: wordsScriptPath,
    content: html`
<div data-leaves-for="${to(address)}">
<p class="asking">${askingHtml(view)}</p>
<h1>${title}</h1>
${
  named === null || problem === "unknown_name"
    ? html`<p>${said("words.intro")}</p>${nameForm(view, hasAtNames, problem, typed)}`
    : html`${instructions(view, named, problem)}
<details><summary>${said("flow.other_account", { platform: platforms.game })}</summary>${nameForm(view, hasAtNames, null, "")}</details>`
}
${declineHtml(view, said("flow.cancel"))}
${supportNote(view)}
<p class="aside">${timeLeft(view.expiresAt, now)}</p>
</div>`,
  };
};

const nameForm = (view: FlowView, hasAtNames: boolean, problem: WordsView["problem"], typed: string): Html =>
  form("/verify/game/words", view)`
<p class="named"><label for="username">${said("words.name")}</label>
<input id="username" name="username" value="${typed.slice(0, longestTyped)}" required maxlength="${longestTyped}" dir="auto"
autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false"
enterkeyhint="go"${problem !== null && html` aria-invalid="true" aria-describedby="problem" autofocus`}></p>
${problem !== null && html`<p class="problem" id="problem" role="alert">${said(hasAtNames ? "words.unknown_name" : "words.unknown_name.spelling")}</p>`}
<button class="button">${said("code.continue")}</button>`;

/** In UTF-16, as browsers count: the longest user name, with an `@` and spaces around it. */
const longestTyped = 2 * longestUsername + 10;

const instructions = (view: FlowView, named: NamedAccount, problem: WordsView["problem"]): Html => html`
<p class="who">${said("words.question")}</p>
${cardHtml(named)}
<p>${said("words.links", { asking: own(view.asking), account: view.chat === null ? "" : accountName(view.chat) })}</p>
${problem !== null && html`<p class="problem" role="alert" tabindex="-1" autofocus>${said("words.not_there")}</p>`}
<ol class="steps" role="list">
<li><h2>${said("words.copy.step")}</h2>
<p class="words" id="words" lang="en" dir="ltr" translate="no">${named.words}</p>
<p><button class="button quiet" type="button" hidden data-copies="words" data-copied="${plain(said("words.copied"))}"
aria-live="polite">${said("words.copy")}</button></p></li>
<li><h2>${said("words.put.step")}</h2>
${
  named.descriptionPage !== null &&
  html`<p>${said("words.put", { path: html`<b>${said("words.path")}</b>` })}</p>
<p><a class="button quiet" href="${to(named.descriptionPage)}" target="_blank"
      rel="noreferrer"><span>${capitalised(said("words.open"))}</span></a></p>`
}</li>
<li><h2>${said("words.back.step")}</h2>
${form("/verify/game/words/check", view)`<button class="button">${said("words.check")}</button>`}</li>
</ol>`;
