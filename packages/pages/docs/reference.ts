/** The page `/docs`: every route of the OpenAPI document, readable without a script. */
import { type Html, html, to } from "../html.ts";
import { css, theme } from "../theme.ts";
import {
  type Document,
  fieldsHtml,
  jsonHtml,
  proseHtml,
  resolved,
  type Schema,
  typeText,
} from "./schema_html.ts";

type Operation = NonNullable<Document["paths"][string]["get"]>;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** @param demoKey the key of a demo, which everyone may use; undefined for other services */
export const referencePage = (
  document: Document,
  { style, openApi }: { readonly style: string; readonly openApi: string },
  demoKey: string | undefined,
): Html => {
  const groups = document.tags.map((tag) => ({
    ...tag,
    routes: routesOf(document).filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference – accountlink</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to(style)}">
</head>
<body>
<a class="button skip" href="#content">Skip to the content</a>
<nav aria-label="Routes">${groups.map(
    ({ name, routes }) => html`
<details><summary>${name}</summary>
<ul role="list">${routes.map(
      ({ method, path, operation }) =>
        html`<li><a href="#${operation.operationId}">${operation.summary} <small>${method} ${path}</small></a></li>`,
    )}</ul></details>`,
  )}
<a href="#errors">Errors</a>
</nav>
<main id="content" tabindex="-1">
<h1>API reference</h1>
<p>${String(document.info["description"])}</p>
<p>Programs read the same as an <a href="${to(openApi)}">OpenAPI document</a>. Owners can
<a href="${to("/dashboard/try")}">try lookups on the dashboard</a>.</p>
<p>The commands below take your API key from the shell:</p>
<pre>export ACCOUNTLINK_KEY='${demoKey ?? "alk_…"}'</pre>
${demoKey === undefined ? null : html`<p>This is the key of the demo. Everyone who opens this page can use it.</p>`}
${groups.map(
  ({ name, description, routes }) => html`
<section>
<h2>${name}</h2>
<p>${proseHtml(description)}.</p>
${routes.map((route) => routeHtml(document, route))}
</section>`,
)}
${errorsSection(document)}
</main>
</body>
</html>
`;
};

const routesOf = ({ paths, webhooks }: Document): ReadonlyArray<Route> => [
  ...Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  ),
  ...Object.entries(webhooks).map(([name, { post }]) => ({ method: "EVENT", path: name, operation: post })),
];

/** Browsers open the element when a link leads to the operation inside. */
const routeHtml = (document: Document, route: Route): Html => {
  const { method, path, operation } = route;
  const { operationId, summary, description, requestBody, responses } = operation;
  const body = requestBody?.content["application/json"];
  return html`
<details class="route"><summary><h3>${proseHtml(summary)} <small><code>${method} ${path}</code></small></h3></summary>
<div id="${operationId}">
${description === "" ? null : html`<p>${proseHtml(description)}</p>`}
${parametersHtml(document, operation)}
${body === undefined ? null : html`<h4>Body</h4>${fieldsHtml(document, body.schema)}`}
${method === "EVENT" ? null : html`<h4>Request</h4><pre>${curlOf(document, route)}</pre>`}
<h4>Answers</h4>
${answersHtml(document, responses)}
</div></details>`;
};

const parametersHtml = (document: Document, { parameters }: Operation): Html | null =>
  parameters.length === 0
    ? null
    : html`<h4>Parameters</h4><ul>${parameters.map((each) => {
        const parameter = resolved(document, each);
        return html`<li><code>${parameter.name}</code> <small>${typeText(document, parameter.schema)}, in the
          ${parameter.in}${parameter.required ? null : ", optional"}</small> ${proseHtml(parameter.description)}</li>`;
      })}</ul>`;

/** Shows the example and the fields of successful answers, and lists the others, whose examples are in one section. */
const answersHtml = (document: Document, responses: Operation["responses"]): Html => {
  const all = Object.entries(responses).map(([status, response]) => ({
    status,
    ...resolved(document, response),
  }));
  return html`${all
    .map(({ status, description, content }) => {
      const json = content?.["application/json"];
      return json?.example === undefined
        ? null
        : html`<details><summary>${status} <small>${proseHtml(description)}</small></summary>
${jsonHtml(json.example)}
<h5>Fields</h5>${fieldsHtml(document, dataOf(document, json.schema))}</details>`;
    })
    .filter((each) => each !== null)}
<ul>${all
    .filter(({ content }) => content?.["application/json"]?.example === undefined)
    .map(({ status, description }) => html`<li>${status} ${proseHtml(description)}</li>`)}</ul>`;
};

const errorsSection = ({ components }: Document): Html => html`
<section id="errors">
<h2>Errors</h2>
<p>An example of each error code.</p>
${Object.entries(components["examples"] ?? {}).map(
  ([code, example]) => html`
<details><summary>${code}</summary>
${jsonHtml((example as { readonly value: unknown }).value)}</details>`,
)}
</section>`;

/** The schema of `data`, because all answers of v2 share the rest; otherwise the whole schema. */
const dataOf = (document: Document, schema: Schema): Schema =>
  resolved<Schema>(document, schema).properties?.["data"] ?? schema;

/** Writes a request with the example values of its parameters as a `curl` command. */
const curlOf = (document: Document, { method, path, operation }: Route): string => {
  const parameters = operation.parameters.map((each) => resolved(document, each));
  const examples = parameters.filter(({ example }) => example !== undefined);
  const query = examples.filter((parameter) => parameter.in === "query");
  const filled = examples.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, String(example)),
    path,
  );
  const search = new URLSearchParams(query.map(({ name, example }) => [name, String(example)])).toString();
  const body = operation.requestBody?.content["application/json"]?.example;
  const scheme = Object.keys((operation.security ?? document.security)[0] ?? {})[0];
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}'${document.servers[0]?.url ?? ""}${filled}${search === "" ? "" : `?${search}`}'`,
    scheme === undefined ? null : `-H "${credentials[scheme]}"`,
    body === undefined ? null : `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
  ]
    .filter((part) => part !== null)
    .join(" \\\n  ");
};

/** The header with which a request authenticates, by the name of the security scheme. */
const credentials: Readonly<Record<string, string>> = {
  apiKey: "Authorization: Bearer $ACCOUNTLINK_KEY",
  botKey: "Authorization: Bot $ACCOUNTLINK_KEY",
  bareKey: "Authorization: $ACCOUNTLINK_KEY",
  headerKey: "api-key: $ACCOUNTLINK_KEY",
  dashboardSession: "Cookie: accountlink_session=$ACCOUNTLINK_SESSION",
};

export const style: string = css`${theme}
body { max-width: 76rem; margin: 0 auto; }
body > * { min-width: 0; }
main:focus { outline: none; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
h4, h5 { margin: 1rem 0 .25rem; font-size: var(--small); }
nav ul { margin: 0 0 .5rem; }
nav a { display: block; padding: .3rem 0; font-size: var(--small); text-decoration: none; }
.route { margin: .5rem 0; padding: .5rem 1rem; border: var(--rule); border-radius: .75rem; background: var(--card); }
.route:has(:target) { border-color: var(--mark); }
.route > summary { width: auto; color: inherit; }
.route > summary h3 { display: inline; font-size: 1rem; }
.route > div { scroll-margin-top: 5rem; }
.route ul { margin: 0; padding-left: 1.1rem; font-size: var(--small); }
li small, details details small { display: inline; }
summary { padding: .25rem 0; }
main details details summary, #errors summary { font-size: var(--small); }
code, pre { font: .8125rem/1.5 ui-monospace, monospace; }
pre { margin: .25rem 0 .75rem; padding: .75rem; border: var(--rule); border-radius: var(--round); background: var(--ground); white-space: pre-wrap; }
.skip { position: absolute; width: auto; left: 1rem; top: -5rem; }
.skip:focus { top: 1rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 2rem; padding: 0 1.5rem; }
  nav { position: sticky; top: 0; max-height: 100vh; overflow: auto; padding: 1.5rem 0; }
  main { padding: 1.5rem 0; }
}
`;
