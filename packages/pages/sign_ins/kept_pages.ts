/**
 * When the user signs out, makes the browser drop the pages that it stored for its back button.
 *
 * Browsers store these pages despite `no-store`. Chromium drops them when the sign-in cookie is removed, except a page
 * that was reached by a redirect from another site, such as the first page after a sign-in. The browser stores the page
 * that the user signs out from only when the next page arrives. So `Clear-Site-Data` must come with a file that the
 * next page loads.
 */

import { type BoundRoute, textResponse, withHeaders } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { type Html, html } from "../html.ts";
import type { Site } from "./site.ts";

const pathOf = ({ path }: Pick<Site, "path">) => `${path}/signed_out.css` as const;

/**
 * Returns an element that every page shown after the end of a sign-in must contain. The element loads a style sheet,
 * whose response makes the browser drop the stored pages.
 */
export const dropKeptPages = (site: Pick<Site, "path">): Html =>
  html`<link rel="stylesheet" href="${pathOf(site)}">`;

/** Serves the style sheet that `dropKeptPages` loads. Requests for it are not counted, so that no limit blocks them. */
export const keptPagesRoute = (site: Pick<Site, "name" | "path">): BoundRoute => ({
  method: "GET",
  path: pathOf(site),
  answer: withHeaders(site.name, () => Effect.succeed(emptyStyle)),
});

const emptyStyle = textResponse(200, "", "text/css; charset=utf-8", {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "clear-site-data": '"cache"',
});
