/**
 * The section Try it: a form that tries a lookup. The service sends the request to itself, with the API key that the
 * owner entered, which it does not store, and with the owner's IP address.
 */

import { keyIdOf } from "@accountlink/core/keys";
import {
  type HttpRequest,
  type HttpResponse,
  HttpSettings,
  type RequestContext,
  type Router,
  textOf,
} from "@accountlink/http/for_pages";
import { Effect, Stream } from "effect";
import { type Html, html, type Problem, section, to } from "../../html.ts";
import type { Fields } from "../form_fields.ts";
import { copyable } from "../look/copyable.ts";
import { checkField, fieldsOf, panelTo, radioField, textField } from "../look/field.ts";
import { platforms } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { refusedFor } from "../look/refused.ts";
import { type OwnerPages } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";

export const tryLookupRoutes = Effect.fnUntraced(function* (
  { page, form }: OwnerPages,
  makeLookups: () => Router,
) {
  const { publicUrl } = yield* HttpSettings;

  const tried = Effect.fnUntraced(function* (context: RequestContext, lookup: LookupForm, key: string) {
    const path = pathOf(lookup);
    const found = makeLookups().find("GET", path);
    if (found === undefined) return yield* Effect.die(`No lookup has the path ${path}`);
    const response = yield* found.answer(requestAs(context, path, key), found.query);
    const { status, headers } = response;
    return {
      url: publicUrl,
      asked: `${publicUrl}${path}`,
      status,
      headers,
      body: JSON.stringify(JSON.parse(textOf(response)), null, 2),
    } satisfies LookupResult;
  });

  return [
    page(paths.tryLookup, () => Effect.succeed(tryLookupPage(emptyLookupForm, null, []))),
    form(paths.tryLookup, function* (visitor, fields) {
      const lookup = formOf(fields);
      const key = fields("key").trim();
      const problems = problemsOf(lookup, key);
      const result = problems.length === 0 ? yield* tried(visitor.context, lookup, key) : null;
      return tryLookupPage(lookup, result, problems);
    }),
  ];
});

const formOf = (fields: Fields): LookupForm => {
  const question = fields("question");
  return {
    question: question === "game" || question === "status" ? question : "chat",
    id: fields("id").trim(),
    guildId: fields("guildId").trim(),
    resolved: fields("resolved") === "true",
  };
};

/** Checks only the form itself; the service validates everything else. */
const problemsOf = ({ id }: LookupForm, key: string) => [
  ...(keyIdOf(key) === null ? [{ name: "key", reason: "expected a whole key, which begins with alk_" }] : []),
  ...(id === "" ? [{ name: "id", reason: "expected the ID of an account" }] : []),
];

const pathOf = ({ question, id, guildId, resolved }: LookupForm): string => {
  const { path, subject } = questions[question];
  return withQuery(path, { [subject]: id, guildId, resolved: resolved ? "true" : null });
};

/** Makes a request with the typed key and the visitor's address, so that the rules and limits of the key apply. */
const requestAs = ({ request }: RequestContext, url: string, key: string): HttpRequest => {
  const headers: Readonly<Record<string, string | undefined>> = {
    authorization: `Bearer ${key}`,
    "x-forwarded-for": request.header("x-forwarded-for"),
  };
  return {
    method: "GET",
    url,
    remoteAddress: request.remoteAddress,
    header: (name) => headers[name],
    readBody: () => Effect.succeed(new Uint8Array()),
    streamBody: () => Stream.empty,
  };
};

/**
 * The lookups that a visitor can try. Each has its path, the parameter that names the user, and the method of
 * `@accountlink/client` that makes the lookup.
 */
const questions = {
  chat: {
    path: "/v2/chat",
    subject: "chatId",
    method: "links.get",
    label: html`Which account on ${platforms.game} belongs to one on ${platforms.chat}?`,
  },
  game: {
    path: "/v2/game",
    subject: "gameId",
    method: "links.byGame",
    label: html`Which accounts on ${platforms.chat} belong to one on ${platforms.game}?`,
  },
  status: {
    path: "/v2/verifications/chat",
    subject: "chatId",
    method: "links.verification",
    label: html`Is an account on ${platforms.chat} verified, and since when?`,
  },
} as const;

type Question = keyof typeof questions;

/** The submitted values of the form. The API key is left out, because no page shows it again. */
interface LookupForm {
  readonly question: Question;
  readonly id: string;
  readonly guildId: string;
  readonly resolved: boolean;
}

interface LookupResult extends Pick<HttpResponse, "status" | "headers"> {
  readonly url: string;
  readonly asked: string;
  /** JSON as text. */
  readonly body: string;
}

const labels = { key: "API key", question: "Question", id: "ID", guildId: "Community" };

const emptyLookupForm: LookupForm = { question: "chat", id: "", guildId: "", resolved: false };

/** @param result the response to show; null if no request was sent */
const tryLookupPage = (
  form: LookupForm,
  result: LookupResult | null,
  problems: ReadonlyArray<Problem>,
): Page => {
  const of = fieldsOf(labels, { ...form, key: "" });
  return {
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
        result.status >= 400 ? "bad" : "good",
      ),
    content: html`
<div class="try">
${result && resultHtml(form, result)}
${panelTo(paths.tryLookup)`
${textField({
  ...of("key"),
  hint: "The service does not store it. This tab remembers it until you close it.",
  type: "password",
  required: true,
  isKept: true,
})}
${radioField({
  ...of("question"),
  choices: Object.entries(questions).map(([value, { label }]) => ({ value, label })),
})}
${textField({ ...of("id"), hint: "The ID of the account to look up.", required: true })}
${textField({ ...of("guildId"), hint: "The ID of the community. Required with a key of one community." })}
${checkField("resolved", "With profiles (Premium keys)", form.resolved)}
<button class="button">Send the request</button>`}
</div>
<p class="more">Every route: <a href="${to("/docs")}">API reference</a></p>`,
  };
};

const resultHtml = (form: LookupForm, result: LookupResult): Html => {
  const { url, asked, status, headers, body } = result;
  return section("Request")`
<pre>GET ${asked}
Authorization: Bearer alk_…</pre>
<h2>Answer</h2>
<pre>HTTP ${status}
${Object.entries(headers).map(([name, value]) => html`${name}: ${String(value)}\n`)}</pre>
${copyable("answer", "answer", body)}
<h2>The same in a terminal</h2>
${copyable("curl", "command", curlOf(asked, "$ACCOUNTLINK_KEY"))}
<h2>The same in JavaScript</h2>
${copyable("client", "program", clientProgramOf(form, url))}`;
};

/**
 * Writes a GET request as a command.
 *
 * @param key a key, or the shell variable that contains it
 */
export const curlOf = (url: string, key: string): string =>
  `curl -s "${url}" -H "Authorization: Bearer ${key}"`;

/** Writes a module that makes the lookup with the client and the key from the environment. */
const clientProgramOf = ({ question, id, guildId, resolved }: LookupForm, url: string): string => {
  const options = { ...(guildId === "" ? {} : { guildId }), ...(resolved ? { resolved } : {}) };
  const values = Object.keys(options).length === 0 ? [id] : [id, options];
  return `import { createClient } from "@accountlink/client";

const client = createClient({ url: ${JSON.stringify(url)}, key: process.env.ACCOUNTLINK_KEY });
console.log(await client.${questions[question].method}(${values.map((value) => JSON.stringify(value)).join(", ")}));`;
};
