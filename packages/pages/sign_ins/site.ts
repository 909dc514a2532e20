/** The sites that users sign in to, and the cookies of each. */
import { type SignInSite, signInLifetime } from "@accountlink/core/sign_ins";
import { type PageCookie, pageCookie } from "../page_cookie.ts";

export interface Site {
  readonly name: SignInSite;
  readonly path: "/dashboard" | "/me";
  readonly session: PageCookie;
  /** The cookie with the `state` of a sign-in in progress. */
  readonly begun: PageCookie;
}

/** @param publicUrl where users reach the service; with https the cookies are secure */
export const siteOf = (name: SignInSite, publicUrl: string): Site => {
  const path = `/${name}` as const;
  return {
    name,
    path,
    session: pageCookie(sessionCookies[name], { path, publicUrl, maxAge: signInLifetime }),
    begun: pageCookie(`accountlink_${name}_sign_in`, { path: "/", publicUrl }),
  };
};

const sessionCookies: Readonly<Record<SignInSite, string>> = {
  dashboard: "accountlink_session",
  me: "accountlink_me",
};
