/**
 * The documentation site, which `npm run site` builds.
 */
import { html } from "@accountlink/html";
import { emptyResponse, textResponse } from "../http_response.ts";
import { makeStaticDocument } from "../static_document.ts";
import type { Docs } from "./docs.ts";

/** The files of the site. */
export interface GuideFiles {
  /** Paths from its folder, with `/` between their parts. Empty when the site is not built. */
  readonly paths: ReadonlyArray<string>;
  /** Reads a file as text. */
  readonly read: (path: string) => Promise<string>;
}

/**
 * `/guide`, or a page with status 404 that says how to build the site.
 *
 * @example
 * ```ts
 * const files = new Map([["index.html", "<!doctype html><title>Links</title>"]]);
 * const guide = guideWith({ paths: [...files.keys()], read: async (path) => files.get(path) ?? "" });
 * guide("https://links.example", "").map(({ path }) => path); // ["/guide", "/guide/index.html"]
 * ```
 */
export const guideWith =
  ({ paths, read }: GuideFiles): Docs =>
  () => {
    const first = { id: "guide", path: "/guide", isPage: true } as const;
    if (paths.length === 0) return [{ ...first, make: () => Promise.resolve(() => notBuilt) }];
    // Its links are relative to a page below the folder.
    const toIndex = emptyResponse(308, { location: "/guide/index.html" });
    return [
      { ...first, make: () => Promise.resolve(() => toIndex) },
      ...paths.map((path) => {
        const contentType = contentTypes[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain";
        return {
          id: "guide",
          path: `/guide/${path}`,
          isPage: path.endsWith(".html"),
          make: async () =>
            makeStaticDocument(await read(path), {
              contentType: `${contentType}; charset=utf-8`,
              headers: { "content-security-policy": policy },
            }),
        } as const;
      }),
    ];
  };

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript",
};

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const notBuilt = textResponse(
  404,
  html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>No guide here</title></head>
<body><h1>The guide is not built</h1>
<p>Run <code>npm run site</code> in the checkout and restart the server. The same text is in the folder <code>docs</code>.</p></body>
</html>
`.source,
  "text/html; charset=utf-8",
  {
    "content-security-policy": policy,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  },
);
