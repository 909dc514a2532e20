/** A form that tries a lookup. The key is typed in and not stored. */
import type { ParameterProblem } from "@accountlink/core/errors";
import { type Html, html } from "../../html.ts";
import { copyable } from "../look/copyable.ts";
import { checkField, radioField, textField } from "../look/field.ts";
import { statusHtml } from "../look/notice.ts";
import { refusedFor } from "../look/refused.ts";
import type { Page, PlatformNames, Visitor } from "../page.ts";
import { paths } from "../paths.ts";
import { clientProgramOf, curlOf, type Request } from "./commands.ts";

/**
 * The lookups that a visitor can try. Each has its path, the parameter that names the user, and the method of
 * `@accountlink/client` that makes the lookup.
 */
export const questions = {
  chat: {
    path: "/v2/chat",
    subject: "chatId",
    method: "links.get",
    label: ({ chat, game }: PlatformNames) => `Which account on ${game} belongs to one on ${chat}?`,
  },
  game: {
    path: "/v2/game",
    subject: "gameId",
    method: "links.byGame",
    label: ({ chat, game }: PlatformNames) => `Which accounts on ${chat} belong to one on ${game}?`,
  },
  status: {
    path: "/v2/verifications/chat",
    subject: "chatId",
    method: "links.verification",
    label: ({ chat }: PlatformNames) => `Is an account on ${chat} verified, and since when?`,
  },
} as const;

type Question = keyof typeof questions;

/** The submitted values of the form. The API key is left out, because no page shows it again. */
export interface LookupForm {
  readonly question: Question;
  readonly id: string;
  readonly guildId: string;
  readonly resolved: boolean;
}

export interface LookupResult {
  readonly url: string;
  readonly request: Request;
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  /** JSON as text. */
  readonly body: string;
}

const labels = { key: "API key", id: "ID", guildId: "Community" };

export const emptyLookupForm: LookupForm = { question: "chat", id: "", guildId: "", resolved: false };

/** @param result the response to show; null if no request was sent */
export const tryLookupPage = (
  form: LookupForm,
  { platforms }: Pick<Visitor, "platforms">,
  result: LookupResult | null,
  problems: ReadonlyArray<ParameterProblem>,
): Page => ({
  title: "Try it",
  section: "tryLookup",
  refused:
    problems.length === 0
      ? null
      : refusedFor(problems, "No request was sent: some fields need another value."),
  labels,
  notice:
    result &&
    statusHtml(
      html`The service answered with status <strong>${result.status}</strong>.`,
      result.status >= 400,
    ),
  content: html`
<div class="try">
${result && resultHtml(form, result)}
<form method="post" action="${paths.tryLookup}" class="panel">
${textField({ name: "key", label: labels.key, hint: "The service does not store it. This tab remembers it until you close it.", type: "password", value: "", required: true, isKept: true, problems })}
${radioField({
  name: "question",
  label: "Question",
  value: form.question,
  problems,
  choices: Object.entries(questions).map(([value, { label }]) => ({ value, label: label(platforms) })),
})}
${textField({ name: "id", label: labels.id, hint: "The ID of the account to look up.", value: form.id, required: true, problems })}
${textField({ name: "guildId", label: labels.guildId, hint: "The ID of the community. Required with a key of one community.", value: form.guildId, problems })}
${checkField("resolved", "With profiles (Premium keys)", form.resolved)}
<button class="button">Send the request</button>
</form>
</div>
<p class="more">Every route: <a href="/docs">API reference</a></p>`,
});

const resultHtml = (form: LookupForm, { url, request, status, headers, body }: LookupResult): Html => html`
<section>
<h2>Request</h2>
<pre>${request.method} ${request.url}
Authorization: Bearer alk_…</pre>
<h2>Answer</h2>
<pre>HTTP ${status}
${headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
${copyable("answer", "answer", body)}
<h2>The same in a terminal</h2>
${copyable("curl", "command", curlOf(request, "$ACCOUNTLINK_KEY"))}
<h2>The same in JavaScript</h2>
${copyable("client", "program", clientProgramOf({ url, ...callOf(form) }))}
</section>`;

const callOf = ({ question, id, guildId, resolved }: LookupForm) => ({
  method: questions[question].method,
  id,
  options: { ...(guildId === "" ? {} : { guildId }), ...(resolved ? { resolved } : {}) },
});
