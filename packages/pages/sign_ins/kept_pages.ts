/**
 * Makes a browser drop the pages that it stored for its back button when the user signs out.
 *
 * `no-store` does not prevent such storage. Chromium drops these pages when the sign-in cookie is removed, except a
 * page that it reached by a redirect from another site, which is the first page after a sign-in. The browser stores the
 * page that a sign-out leaves only when the next page arrives, so the header must come with a file that this next page
 * loads.
 */

import { type BoundRoute, textResponse, withHeaders } from "@accountlink/http/site";
import { Effect } from "effect";
import { type Html, html } from "../html.ts";
import type { Site } from "./site.ts";

const pathOf = ({ path }: Pick<Site, "path">) => `${path}/signed_out.css` as const;

/** A part of every page that ends a sign-in. */
export const dropKeptPages = (site: Pick<Site, "path">): Html =>
  html`<link rel="stylesheet" href="${pathOf(site)}">`;

/** An empty style sheet. Its requests are not counted, so that no limit blocks it. */
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
