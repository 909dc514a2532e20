/** The guide, which `npm run guide` builds. */

import { type Docs, emptyResponse, makeStaticDocument } from "@accountlink/http/for_pages";

/**
 * Reads a file of the guide as text; null if it does not exist.
 *
 * @param path relative to the folder of the guide, with `/` as separator; already checked to be below the folder
 */
export type ReadGuide = (path: string) => Promise<string | null>;

/**
 * Returns the document `/guide`: the guide, or a redirect to `/docs` until the guide is built. With a game other than
 * Roblox it redirects too, since the guide describes Roblox and the routes for it.
 *
 * @example
 * ```ts
 * const files = new Map([["index.html", "<!doctype html><title>Links</title>"]]);
 * const guide = guideWith(async (path) => files.get(path) ?? null);
 * guide("https://links.example", "").map(({ path }) => path); // ["/guide", "/guide/*"]
 * ```
 */
export const guideWith =
  (read: ReadGuide): Docs =>
  (_publicUrl, _basePath, served) => [
    {
      id: "guide",
      path: "/guide",
      isPage: true,
      make: () => Promise.resolve(() => toIndex),
    },
    {
      id: "guide",
      path: "/guide/*",
      isPage: true,
      make: async (path) => {
        const [, file, ending = ""] =
          /^\/guide\/((?:[\w@-][\w@.-]*\/)*[\w@-][\w@.-]*\.(html|css|js|svg))$/.exec(path) ?? [];
        const text = file === undefined || served?.withoutCompat === true ? null : await read(file);
        if (text === null) return file === "index.html" ? () => toDocs : null;
        return makeStaticDocument(text, {
          contentType: `${contentTypes[ending]}; charset=utf-8`,
          headers: { "content-security-policy": policy },
        });
      },
    },
  ];

// The links of the guide's pages are relative, so `/guide` redirects to a page in the folder of the guide.
const toIndex = emptyResponse(308, { location: "/guide/index.html" });

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Without the guide, the reference of the HTTP interface is what the service has.
const toDocs = emptyResponse(307, { location: "/docs", "cache-control": "no-store" });
