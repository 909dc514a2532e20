import { type Docs, makeStaticDocument, type StaticDocument } from "@accountlink/http/site";
import { openApi } from "@accountlink/http-api";
import { HttpRouter } from "effect/http";
import { HttpApi, HttpApiScalar } from "effect/http-api";
import { documentBelow } from "../base_path.ts";
import { html } from "../html.ts";

/** Options of the API reference for demos. */
export interface DocsOptions {
  /** The key that the page uses to try requests. Only for demos, because everyone who opens the page can read it. */
  readonly demoKey?: string;
}

/**
 * Returns the documents `/docs` and `/openapi.json`, for `HttpSettings` and `makeWebHandler`. A program that does not
 * import this module does not load the page's script of several megabytes.
 *
 * @example
 * ```ts
 * const demoDocs = docsWith({ demoKey: "alk_of_a_demo" });
 * demoDocs("https://links.example", "/links").length; // 3
 * ```
 */
export const docsWith =
  (options: DocsOptions): Docs =>
  (publicUrl, basePath) => [
    { id: "docs", path: paths.page, isPage: true, make: () => makePage(basePath, options) },
    // Made at the first request, because making the script takes a fifth of a second and 3 MB of memory.
    { id: "docs", path: paths.script, isPage: false, make: makeScript },
    { id: "openApi", path: paths.openApi, isPage: false, make: () => makeOpenApi(publicUrl) },
  ];

/**
 * The API reference without a demo key.
 *
 * @example
 * ```ts
 * const paths = docs("https://links.example", "/links").map(({ path }) => path);
 * paths; // ["/docs", "/docs/scalar.js", "/openapi.json"]
 * ```
 */
export const docs: Docs = docsWith({});

const paths = { page: "/docs", script: "/docs/scalar.js", openApi: "/openapi.json" } as const;

const makeOpenApi = (publicUrl: string) =>
  makeStaticDocument(JSON.stringify(openApi(publicUrl)), { contentType: "application/json" });

const makePage = (basePath: string, options: DocsOptions) =>
  makeStaticDocument(documentBelow(basePath, emptyPage(configurationOf(basePath, options))).source, {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": pagePolicy },
  });

/**
 * Returns the settings of the API reference. With these settings, the page loads nothing from other hosts, and sends
 * requests to its own origin.
 */
const configurationOf = (basePath: string, { demoKey }: DocsOptions) => ({
  url: basePath + paths.openApi,
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "none",
  defaultOpenAllTags: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  servers: [{ url: basePath === "" ? "/" : basePath }],
  authentication: {
    preferredSecurityScheme: "apiKey",
    ...(demoKey === undefined ? {} : { securitySchemes: { apiKey: { token: demoKey } } }),
  },
});

const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; font-src data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Clips parts of the reference that extend beyond the edge of a phone's screen, such as buttons that appear on hover.
 */
const clippedParts = ".references-rendered { overflow-x: clip }";

const emptyPage = (configuration: object) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>accountlink</title>
<link rel="icon" href="data:,">
<style>${clippedParts}</style>
</head>
<body>
<noscript>This page needs JavaScript. The <a href="${paths.openApi}">OpenAPI document</a> says the same.</noscript>
<script id="api-reference" data-configuration="${JSON.stringify(configuration)}"></script>
<script src="${paths.script}"></script>
</body>
</html>
`;

/**
 * Extracts Scalar's script from the page that Effect generates. The npm package of the script would add a hundred
 * dependencies to every server.
 */
const makeScript = async (): Promise<StaticDocument> => {
  const scalar = HttpRouter.toWebHandler(HttpApiScalar.layer(HttpApi.make("empty"), { path: "/" }), {
    disableLogger: true,
  });
  const page = await (await scalar.handler(new Request("http://localhost/"))).text();
  await scalar.dispose();
  const start = page.indexOf(opening) + opening.length;
  const end = page.indexOf("</script>", start);
  if (start < opening.length || end === -1)
    throw new Error("Cannot make the API reference: Effect's page has no script");
  return makeStaticDocument(page.slice(start, end), {
    contentType: "text/javascript; charset=utf-8",
    onlyCompressed: true,
  });
};

const opening = "<script>";
