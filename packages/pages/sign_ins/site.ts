/** The sites that users sign in to, and the cookies of each. */
import { beginLifetime, type SignInSite, signInLifetime } from "@accountlink/core/sign_ins";
import { type PageCookie, pageCookie } from "../page_cookie.ts";

export interface Site {
  readonly name: SignInSite;
  readonly path: "/dashboard" | "/me";
  readonly session: PageCookie;
  /** The cookie with the `state` of a sign-in in progress. */
  readonly begun: PageCookie;
  /** The cookie with the page that a user asked for before the sign-in. */
  readonly asked: PageCookie;
}

/** @param publicUrl where users reach the service; with https the cookies are secure */
export const siteOf = (name: SignInSite, publicUrl: string): Site => {
  const path = `/${name}` as const;
  return {
    name,
    path,
    session: pageCookie(sessionCookies[name], { path, publicUrl, maxAge: signInLifetime }),
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
export const isPageOf = ({ path }: Pick<Site, "path">, address: string): boolean =>
  address.startsWith(`${path}/`) && /^[\w/?&=%:@+~,-]{1,1500}$/.test(address) && !address.includes("//");
