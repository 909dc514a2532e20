/**
 * The API reference: its page, its script, and the OpenAPI document. No key needed.
 */

import { html } from "@accountlink/html";
import { openApi } from "@accountlink/http-api";
import { Effect } from "effect";
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http";
import { HttpApi, HttpApiScalar } from "effect/http-api";
import type { BoundRoute } from "../pipeline/pipeline.ts";
import { makeStaticDocument, type StaticDocument } from "./static_document.ts";

/** The paths of the documentation. */
export const docsPaths = { page: "/docs", script: "/docs/scalar.js", openApi: "/openapi.json" } as const;

/** Answers without a key, within the requests per second of the client address. */
interface Visits {
  readonly visit: (
    id: string,
    answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>,
  ) => BoundRoute["answer"];
}

/**
 * The routes of the documentation.
 *
 * @param pipeline refuses with an envelope
 * @param flow refuses with a page
 */
export const docsRoutes = Effect.fnUntraced(function* (pipeline: Visits, flow: Visits) {
  const [page, document] = yield* Effect.promise(() => Promise.all([makePage(), makeOpenApi()]));
  // Made on first use: 3 MB and a fifth of a second.
  let loading: Promise<StaticDocument> | undefined;
  const script = Effect.promise(() => (loading ??= makeScript()));

  return [
    get(docsPaths.page, flow.visit("docs", answerWith(Effect.succeed(page)))),
    get(docsPaths.script, pipeline.visit("docs", answerWith(script))),
    get(docsPaths.openApi, pipeline.visit("openApi", answerWith(Effect.succeed(document)))),
  ];
});

const get = (path: `/${string}`, answer: BoundRoute["answer"]): BoundRoute => ({
  method: "GET",
  path,
  answer,
});

const answerWith = (document: Effect.Effect<StaticDocument>) =>
  Effect.zipWith(document, HttpServerRequest.HttpServerRequest, (answer, request) => answer(request));

const makeOpenApi = () => makeStaticDocument(JSON.stringify(openApi()), { contentType: "application/json" });

const makePage = () =>
  makeStaticDocument(emptyPage.source, {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": pagePolicy },
  });

/** Nothing is loaded from other hosts. */
const configuration = {
  url: docsPaths.openApi,
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "none",
  agent: { disabled: true },
  mcp: { disabled: true },
  authentication: { preferredSecurityScheme: "apiKey" },
};

const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; font-src data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const emptyPage = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>accountlink</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. The <a href="${docsPaths.openApi}">OpenAPI document</a> says the same.</noscript>
<script id="api-reference" data-configuration="${JSON.stringify(configuration)}"></script>
<script src="${docsPaths.script}"></script>
</body>
</html>
`;

/** Takes the script of Scalar out of the page that Effect makes. */
const makeScript = async (): Promise<StaticDocument> => {
  const scalar = HttpRouter.toWebHandler(HttpApiScalar.layer(HttpApi.make("empty"), { path: "/" }), {
    disableLogger: true,
  });
  const page = await (await scalar.handler(new Request("http://localhost/"))).text();
  await scalar.dispose();
  const start = page.indexOf(opening) + opening.length;
  return makeStaticDocument(page.slice(start, page.indexOf("</script>", start)), {
    contentType: "text/javascript; charset=utf-8",
    onlyCompressed: true,
  });
};

const opening = "<script>";
