import { type Docs, makeStaticDocument } from "@accountlink/http/for_pages";
import { openApi } from "@accountlink/http-api";
import { type DocsOptions, referencePage, style } from "./reference.ts";

export type { DocsOptions } from "./reference.ts";

/**
 * Returns the documents `/docs` and `/openapi.json`, for `HttpSettings` and `makeWebHandler`.
 *
 * @example
 * ```ts
 * const demoDocs = docsWith({ demoKey: "alk_of_a_demo" });
 * demoDocs("https://links.example", "/links").length; // 3
 * ```
 */
export const docsWith =
  (options: DocsOptions): Docs =>
  (publicUrl, basePath, served) => [
    {
      id: "docs",
      path: paths.page,
      isPage: true,
      make: () => makePage(openApi(publicUrl, served), basePath, options),
    },
    { id: "docs", path: paths.style, isPage: false, make: makeStyle },
    {
      id: "openApi",
      path: paths.openApi,
      isPage: false,
      make: () => makeOpenApi(openApi(publicUrl, served)),
    },
  ];

/**
 * The API reference without a demo key.
 *
 * @example
 * ```ts
 * const paths = docs("https://links.example", "/links").map(({ path }) => path);
 * paths; // ["/docs", "/docs/style.css", "/openapi.json"]
 * ```
 */
export const docs: Docs = docsWith({});

const paths = { page: "/docs", style: "/docs/style.css", openApi: "/openapi.json" } as const;

type Document = ReturnType<typeof openApi>;

const makeOpenApi = (document: Document) =>
  makeStaticDocument(JSON.stringify(document), { contentType: "application/json" });

const makePage = (document: Document, basePath: string, options: DocsOptions) =>
  makeStaticDocument(referencePage(document, paths, options).at({ basePath }), {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": pagePolicy },
  });

const makeStyle = () => makeStaticDocument(style, { contentType: "text/css; charset=utf-8" });

const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
