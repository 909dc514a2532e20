/**
 * What makes a browser drop the pages of a site that it kept whole, for its back button.
 *
 * `no-store` does not forbid it to. Chromium drops those pages when the cookie of the sign-in is taken away, but not one
 * that it got by a redirect from another site: the first page after a sign-in. The page that is left by a sign-out is
 * kept when the next one is there, so the header has to come with something that this next one loads.
 */

import { type BoundRoute, textResponse, withHeaders } from "@accountlink/http/site";
import { Effect } from "effect";
import { type Html, html } from "../html.ts";
import type { Site } from "./site.ts";

const pathOf = ({ path }: Pick<Site, "path">) => `${path}/signed_out.css` as const;

/** A part of every page that ends a sign-in. */
export const dropKeptPages = (site: Pick<Site, "path">): Html =>
  html`<link rel="stylesheet" href="${pathOf(site)}">`;

/** An empty style sheet. It is not counted, so that a limit does not keep it away. */
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
