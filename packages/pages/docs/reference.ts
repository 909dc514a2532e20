/** The page `/docs`: every route of the OpenAPI document, readable without a script. */
import { type Html, html, section, to } from "../html.ts";
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
import { tasks, usingSection } from "./using.ts";

type Operation = NonNullable<Document["paths"][string]["get"]>;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Options of the API reference. */
export interface DocsOptions {
  /** The key in the example requests of the page. Only for demos, because everyone who opens the page can read it. */
  readonly demoKey?: string;
  /** Whether the guide is served too, so that the page leads to it. */
  readonly hasGuide?: boolean;
}

export const referencePage = (
  document: Document,
  { style, openApi }: { readonly style: string; readonly openApi: string },
  { demoKey, hasGuide = false }: DocsOptions,
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
<nav aria-label="Routes">
<a href="#using">Keys, limits, trying again</a>
<a href="#errors">Errors</a>${groups.map(
    ({ name, routes }) => html`
<details><summary>${name}</summary>
<ul role="list">${routes.map(
      ({ method, path, operation }) =>
        html`<li><a href="#${operation.operationId}">${operation.summary} <small>${method} ${path}</small></a></li>`,
    )}</ul></details>`,
  )}
</nav>
<main id="content" tabindex="-1">
<h1>API reference</h1>
<p>${String(document.info["description"])}</p>
${tasks}
<p>The search of your browser (Ctrl+F) looks into closed parts too. Programs read the same as an
<a href="${to(openApi)}">OpenAPI document</a>, ${hasGuide ? html`the <a href="${to("/guide")}">guide</a> explains it, ` : null}and owners
<a href="${to("/dashboard/try")}">try lookups on the dashboard</a>.</p>
<p>The commands below take your key from the shell. Other names, such as <code>$SID</code> in an address, stand for values of
your own:</p>
<pre>export ACCOUNTLINK_KEY='${demoKey ?? "alk_…"}'</pre>
${demoKey !== undefined && html`<p>This is the key of the demo. Everyone who opens this page can use it.</p>`}
${usingSection(hasGuide)}
${groups.map(
  ({ name, description, routes }) => html`
<details class="group"><summary><h2>${name}</h2> <small>${String(routes.length)}</small></summary>
<p>${proseHtml(description)}.</p>
${routes.map((route) => routeHtml(document, route))}
</details>`,
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
  const { operationId, summary, description, requestBody } = operation;
  const body = requestBody?.content["application/json"];
  return html`
<details class="route"><summary><h3>${proseHtml(summary)} <small><code>${method} ${path}</code></small></h3></summary>
<div id="${operationId}">
${description !== "" && html`<p>${proseHtml(description)}</p>`}
${parametersHtml(document, operation)}
${body !== undefined && html`<h4>Body</h4>${fieldsHtml(document, body.schema)}`}
${method !== "EVENT" && html`<h4>Request</h4><pre>${curlOf(document, route)}</pre>`}
<h4>Answers</h4>
${answersHtml(document, operation)}
</div></details>`;
};

const parametersHtml = (document: Document, { parameters }: Operation): Html | false =>
  parameters.length > 0 &&
  html`<h4>Parameters</h4><ul>${parameters.map((each) => {
    const parameter = resolved(document, each);
    return html`<li><code>${parameter.name}</code> <small>${typeText(document, parameter.schema)}, in the
          ${parameter.in}${parameter.required ? null : ", optional"}</small> ${proseHtml(parameter.description)}</li>`;
  })}</ul>`;

/** Shows the example and the fields of successful answers, and lists the others, each with what its reasons ask for. */
const answersHtml = (document: Document, operation: Operation): Html => {
  const all = Object.entries(operation.responses).map(([status, response]) => {
    const { content, ...others } = resolved(document, response);
    return { status, ...others, media: Object.values(content ?? {})[0] };
  });
  return html`${all
    .filter(({ media }) => media?.example !== undefined)
    .map(
      ({
        status,
        description,
        media,
      }) => html`<details><summary>${status} <small>${proseHtml(description)}</small></summary>
${typeof media?.example === "string" ? html`<pre>${media.example}</pre>` : jsonHtml(media?.example)}
${media !== undefined && fieldsOf(document, media.schema)}</details>`,
    )}
<ul>${all
    .filter(({ media }) => media?.example === undefined)
    .map(
      ({ status, description, media }) =>
        html`<li>${status} ${proseHtml(description)}${
          media !== undefined &&
          reasonsHtml([...reasonsIn(document, media.schema), ...wordsIn(document, operation, media)])
        }</li>`,
    )}</ul>`;
};

const fieldsOf = (document: Document, schema: Schema): Html | null => {
  const fields = fieldsHtml(document, dataOf(document, schema));
  return fields && html`<h5>Fields</h5>${fields}`;
};

interface Reason {
  readonly reason: string;
  readonly advice: string;
}

/** The reasons and limits in the `details` of a refusal, which are constants with a description. */
const reasonsIn = (document: Document, refusal: Schema): ReadonlyArray<Reason> => {
  const choicesOf = (schema: Schema | undefined): ReadonlyArray<Schema> => {
    if (schema === undefined) return [];
    const found = resolved<Schema>(document, schema);
    return found.anyOf?.map((each) => resolved<Schema>(document, each)) ?? [found];
  };
  return choicesOf(resolved<Schema>(document, refusal).properties?.["error"])
    .flatMap((error) => choicesOf(error.properties?.["details"]))
    .flatMap(({ properties = {} }) => choicesOf(properties["reason"] ?? properties["bucket"]))
    .flatMap(reasonOf);
};

const reasonOf = ({ enum: values, description }: Schema): ReadonlyArray<Reason> =>
  values === undefined || description === undefined
    ? []
    : [{ reason: String(values[0]), advice: description }];

const reasonsHtml = (reasons: ReadonlyArray<Reason>): Html | false =>
  reasons.length > 0 &&
  html`<ul>${reasons.map(({ reason, advice }) => html`<li><code>${reason}</code> ${proseHtml(advice)}</li>`)}</ul>`;

/** The words in which a refusal of v1 tells the reasons of an operation, because its body does not name them. */
const wordsIn = (
  document: Document,
  { "x-reasons": own = [] }: Operation,
  { examples = {} }: { readonly examples?: Readonly<Record<string, object>> },
): ReadonlyArray<Reason> =>
  own.flatMap((reason) => {
    const { value } = (examples[reason] ?? {}) as { readonly value?: { readonly error: string } };
    const schema = resolved<Schema>(document, { $ref: `#/components/schemas/Reason_${reason}` });
    return value === undefined ? [] : reasonOf(schema).map((each) => ({ ...each, reason: value.error }));
  });

/** The reasons of all refusals, each once. */
const allReasons = (document: Document): ReadonlyArray<Reason> => {
  const reasons = routesOf(document)
    .flatMap(({ operation }) => Object.values(operation.responses))
    .flatMap((response) => Object.values(resolved(document, response).content ?? {}))
    .flatMap(({ schema }) => reasonsIn(document, schema));
  return [...new Map(reasons.map((each) => [each.reason, each])).values()];
};

const errorsSection = (document: Document): Html => section("Errors", "errors")`
<p>Decide by <code>error.code</code> and <code>error.details</code>. Each route lists the reasons that it has. What each asks for:</p>
${reasonsHtml(allReasons(document))}
<p>An example of each error code:</p>
${Object.entries(document.components["examples"] ?? {}).map(
  ([code, example]) => html`
<details><summary>${code}</summary>
${jsonHtml((example as { readonly value: unknown }).value)}</details>`,
)}`;

/** The schema of `data`, because all answers of v2 share the rest; otherwise the whole schema. */
const dataOf = (document: Document, schema: Schema): Schema =>
  resolved<Schema>(document, schema).properties?.["data"] ?? schema;

/**
 * Writes a request with the example values of its parameters as a `curl` command. Values of a path that only the reader
 * knows are variables of the shell.
 */
const curlOf = (document: Document, { method, path, operation }: Route): string => {
  const parameters = operation.parameters.map((each) => resolved(document, each));
  const filled = path.replaceAll(/(\w+)\/\{(.*?)\}/g, (_, before: string, name: string) => {
    const { example } = parameters.find((each) => each.name === name && each.in === "path") ?? {};
    const value = name === "sid" || example === undefined ? `$${variableOf(before, name)}` : textOf(example);
    return `${before}/${value}`;
  });
  const query = parameters.filter(({ in: place, example }) => place === "query" && example !== undefined);
  const search = new URLSearchParams(query.map(({ name, example }) => [name, String(example)])).toString();
  const body = operation.requestBody?.content["application/json"]?.example;
  const server = document.servers[0]?.url ?? "";
  const url = `${server}${filled}${search === "" ? "" : `?${search}`}`;
  const schemes = (operation.security ?? document.security).flatMap((each) => Object.keys(each));
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${url.includes("$") ? `"${url}"` : `'${url}'`}`,
    ...credentialsOf(schemes, method, server).map((header) => `-H "${header}"`),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`]),
  ].join(" \\\n  ");
};

const textOf = (example: unknown): string =>
  typeof example === "string" ? example : JSON.stringify(example);

/** The variable of a value in a path: `$KEY_ID` for `keys/{id}`. */
const variableOf = (before: string, name: string): string =>
  (name === "id" ? `${before.replace(/s$/, "")}_id` : name.replaceAll(/[A-Z]/g, "_$&")).toUpperCase();

/** The headers with which a request authenticates. A key needs no token of a page, so it is preferred to a sign-in. */
const credentialsOf = (
  schemes: ReadonlyArray<string>,
  method: string,
  server: string,
): ReadonlyArray<string> => {
  const [first = ""] = schemes;
  if (first !== "dashboardSession") return first === "" ? [] : [keyHeaders[first] ?? ""];
  if (schemes.includes("apiKey")) return ["Authorization: Bearer $ACCOUNTLINK_MANAGE_KEY"];
  const cookie = "Cookie: accountlink_session=$ACCOUNTLINK_SESSION";
  return method === "GET"
    ? [cookie]
    : [cookie, "X-CSRF-Token: $CSRF_TOKEN", `Origin: ${new URL(server).origin}`];
};

/** The header with a key, by the name of the security scheme. */
const keyHeaders: Readonly<Record<string, string>> = {
  apiKey: "Authorization: Bearer $ACCOUNTLINK_KEY",
  botKey: "Authorization: Bot $ACCOUNTLINK_KEY",
  bareKey: "Authorization: $ACCOUNTLINK_KEY",
  headerKey: "api-key: $ACCOUNTLINK_KEY",
};

export const style: string = css`${theme}
body { max-width: 76rem; margin: 0 auto; }
body > * { min-width: 0; }
main:focus { outline: none; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
h4, h5 { margin: 1rem 0 .25rem; font-size: var(--small); }
nav ul { margin: 0 0 .5rem; }
nav a { display: block; padding: .3rem 0; font-size: var(--small); text-decoration: none; }
.group > summary h2 { display: inline; }
.group > summary { padding: 1rem 0; }
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
