/**
 * The sites that people sign in to, and the cookies of each.
 */
import { type SignInSite, signInLifetime } from "@accountlink/core/sign_ins";
import { HttpServerResponse } from "effect/http";
import type { ServedContext } from "../request_context.ts";

type Response = HttpServerResponse.HttpServerResponse;

/** A cookie of a site. */
interface SiteCookie {
  /** Null when the browser has none. */
  readonly read: (context: ServedContext) => string | null;
  readonly write: (response: Response, value: string) => Response;
  readonly clear: (response: Response) => Response;
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
  const prefix = secure ? "__Host-" : "";
  return {
    name,
    path,
    session: cookieOf(sessionCookies[name], { path, secure, maxAge: signInLifetime }),
    begun: cookieOf(`${prefix}accountlink_${name}_sign_in`, { path: "/", secure }),
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

const cookieOf = (name: string, scope: CookieScope): SiteCookie => {
  // Lax: the platform redirects back from its own site.
  const options = { ...scope, httpOnly: true, sameSite: "lax" } as const;
  return {
    read: ({ request }) => request.cookies[name] ?? null,
    write: (response, value) => HttpServerResponse.setCookieUnsafe(response, name, value, options),
    clear: (response) => HttpServerResponse.setCookieUnsafe(response, name, "", { ...options, maxAge: 0 }),
  };
};
