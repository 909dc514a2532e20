import { type Html, html } from "../html.ts";
import type { Page } from "../page.ts";

/** Why the service refused the code that a user entered. */
export type CodeRefusal = "unknown_code" | "ended_code" | "too_many_codes";

const problems: Readonly<Record<CodeRefusal, { readonly status: number; readonly text: string }>> = {
  unknown_code: {
    status: 404,
    text: "This code does not work. Compare each character with the code that you see.",
  },
  ended_code: { status: 404, text: "This code has ended. Get a new one where you got it." },
  too_many_codes: {
    status: 429,
    text: "Too many codes that do not work came from your network. Wait a minute, and try again.",
  },
};

/** @param typed the code that the user has entered */
export const codePage = (refused: CodeRefusal | null, typed = ""): Page => ({
  status: refused === null ? 200 : problems[refused].status,
  title: "Enter your code",
  content: html`
<form method="post" action="/go" class="code">
<h1><label for="code">Enter your code</label></h1>
${refused === null ? null : problemHtml(problems[refused].text)}
<input id="code" name="code" value="${typed.slice(0, longestTyped)}" required autofocus maxlength="${longestTyped}" placeholder="BCDF-2345" inputmode="text"
autocomplete="one-time-code" autocapitalize="characters" autocorrect="off" spellcheck="false" enterkeyhint="go"
aria-describedby="${refused === null ? "hint" : "problem hint"}"${refused === null ? null : html` aria-invalid="true"`}>
<button class="button">Continue</button>
<p class="aside" id="hint">The game shows it on its screen. It looks like <b>BCDF-2345</b>.</p>
</form>`,
});

const longestTyped = 20;

const problemHtml = (text: string): Html => html`<p class="problem" id="problem" role="alert">${text}</p>`;
