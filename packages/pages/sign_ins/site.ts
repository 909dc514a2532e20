/** The sites that users sign in to, and the cookies of each. */
import { beginLifetime, type SignInSite, signInLifetime } from "@accountlink/core/sign_ins";
import { type BoundRoute, textResponse, withHeaders } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { type Html, html, to } from "../html.ts";
import { type PageCookie, pageCookie } from "../page_cookie.ts";

export interface Site {
  readonly name: SignInSite;
  readonly path: "/dashboard" | "/me";
  readonly session: PageCookie;
  /** The cookie with the `state` of each sign-in in progress and the page asked for before it, the newest first. */
  readonly begun: PageCookie;
  /** The cookie with the page that a user asked for last without a sign-in. */
  readonly asked: PageCookie;
}

/** @param publicUrl where users reach the service; with https the cookies are secure */
export const siteOf = (name: SignInSite, publicUrl: string): Site => {
  const path = `/${name}` as const;
  return {
    name,
    path,
    session: pageCookie(sessionCookies[name], {
      path,
      publicUrl,
      maxAge: signInLifetime,
      hasPlainName: true,
    }),
    begun: pageCookie(`accountlink_${name}_sign_in`, { path: "/", publicUrl }),
    asked: pageCookie(`accountlink_${name}_page`, { path, publicUrl, maxAge: beginLifetime }),
  };
};

const sessionCookies: Readonly<Record<SignInSite, string>> = {
  dashboard: "accountlink_session",
  me: "accountlink_me",
};

/**
 * Returns whether users may be sent to an address after the sign-in: a page of the site, at an address that browsers
 * read as a path. Files are left out, since a download shows no page.
 */
export const isPageOf = ({ path }: Pick<Site, "path">, address: string): boolean => {
  if (!/^\/[\w/?&=%:@+~,.-]{1,1500}$/.test(address) || address.startsWith("//")) return false;
  // Parse as browsers do, which take `%2e%2e` for a step up.
  const { pathname } = new URL(address, "https://site.invalid");
  return pathname.startsWith(`${path}/`) && !/\.|\/\//.test(pathname);
};

const pathOf = ({ path }: Pick<Site, "path">) => `${path}/signed_out.css` as const;

/** An element for every page after a sign-in. Its style sheet makes the browser drop the stored pages. */
export const dropKeptPages = (site: Pick<Site, "path">): Html =>
  html`<link rel="stylesheet" href="${to(pathOf(site))}">`;

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
