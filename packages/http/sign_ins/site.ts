/**
 * The sites that people sign in to, and the cookies of each.
 */
import { type SignInSite, signInLifetime } from "@accountlink/core/sign_ins";
import { cookieOf } from "../http_request.ts";
import type { HttpResponse } from "../http_response.ts";
import { basePathOf } from "../mount.ts";
import type { RequestContext } from "../request_context.ts";

/** A cookie of a site. */
interface SiteCookie {
  /** Null when the browser has none. */
  readonly read: (context: RequestContext) => string | null;
  readonly write: (response: HttpResponse, value: string) => HttpResponse;
  readonly clear: (response: HttpResponse) => HttpResponse;
}

export interface Site {
  readonly name: SignInSite;
  /** The path of its pages. */
  readonly path: "/dashboard" | "/me";
  /** The cookie of who is signed in. */
  readonly session: SiteCookie;
  /** The `state` of a sign-in that has begun. */
  readonly begun: SiteCookie;
}

/** @param publicUrl where users reach the service; with https the cookies are secure */
export const siteOf = (name: SignInSite, publicUrl: string): Site => {
  const secure = publicUrl.startsWith("https:");
  const path = `/${name}` as const;
  const basePath = basePathOf({ publicUrl });
  const prefix = secure ? "__Host-" : "";
  return {
    name,
    path,
    session: siteCookie(sessionCookies[name], { path: basePath + path, secure, maxAge: signInLifetime }),
    // Browsers take a `__Host-` cookie with the path "/" only.
    begun: siteCookie(`${prefix}accountlink_${name}_sign_in`, {
      path: secure ? "/" : basePath || "/",
      secure,
    }),
  };
};

const sessionCookies: Readonly<Record<SignInSite, string>> = {
  dashboard: "accountlink_session",
  me: "accountlink_me",
};

interface CookieScope {
  readonly path: string;
  readonly secure: boolean;
  /** In milliseconds; without it the cookie ends with the browser. */
  readonly maxAge?: number;
}

const siteCookie = (name: string, scope: CookieScope): SiteCookie => {
  // Lax: the platform redirects back from its own site.
  const options = { ...scope, httpOnly: true, sameSite: "lax" } as const;
  return {
    read: ({ request }) => cookieOf(request, name),
    write: (response, value) => response.withCookie(name, value, options),
    clear: (response) => response.withCookie(name, "", { ...options, maxAge: 0 }),
  };
};
