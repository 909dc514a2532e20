import { type Html, html } from "../html.ts";
import { code, type Language } from "../languages/language.ts";
import type { Page } from "../page.ts";

/** Why the service refused the code that a user entered. */
export type CodeRefusal = "unknown_code" | "ended_code" | "too_many_codes";

const statuses: Readonly<Record<CodeRefusal, number>> = {
  unknown_code: 404,
  ended_code: 404,
  too_many_codes: 429,
};

/** @param typed the code that the user has entered */
export const codePage = (language: Language, refused: CodeRefusal | null, typed = ""): Page => ({
  status: refused === null ? 200 : statuses[refused],
  title: language.text("code.title"),
  address: "/go",
  content: html`
<form method="post" action="/go" class="code">
<h1><label for="code">${language.text("code.title")}</label></h1>
${refused === null ? null : problemHtml(language.text(`code.${refused}`))}
<input id="code" name="code" value="${typed.slice(0, longestTyped)}" required autofocus maxlength="${longestTyped}" placeholder="${example}" inputmode="text" dir="ltr"
autocomplete="one-time-code" autocapitalize="characters" autocorrect="off" spellcheck="false" enterkeyhint="go"
aria-describedby="${refused === null ? "hint" : "problem hint"}"${refused === null ? null : html` aria-invalid="true"`}>
<button class="button">${language.text("code.continue")}</button>
<p class="aside" id="hint">${language.html("code.hint", { example: html`<b>${code(example)}</b>` })}</p>
</form>`,
});

const example = "BCDF-2345";

const longestTyped = 20;

const problemHtml = (text: string): Html => html`<p class="problem" id="problem" role="alert">${text}</p>`;
