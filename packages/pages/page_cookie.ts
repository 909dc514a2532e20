import { basePathOf, cookieOf, type HttpResponse, type RequestContext } from "@accountlink/http/site";

export interface PageCookie {
  /** Null when the browser has none. */
  readonly read: (context: RequestContext) => string | null;
  readonly write: (response: HttpResponse, value: string) => HttpResponse;
  readonly clear: (response: HttpResponse) => HttpResponse;
}

interface CookieOptions {
  readonly path: string;
  /** Where users reach the service. */
  readonly publicUrl: string;
  /** In milliseconds; without it the cookie ends with the browser. */
  readonly maxAge?: number;
}

/**
 * A cookie that no script reads. With an https URL browsers send it by https alone, and the name of one for all paths
 * has a prefix, so that they take it from nobody else. Those of a path keep their names, which are documented.
 */
export const pageCookie = (
  plainName: string,
  { publicUrl, path: plainPath, ...rest }: CookieOptions,
): PageCookie => {
  const secure = publicUrl.startsWith("https:");
  const isHost = secure && plainPath === "/";
  const name = isHost ? `__Host-${plainName}` : plainName;
  // Browsers take a `__Host-` cookie with the path "/" only.
  const path = isHost ? "/" : basePathOf({ publicUrl }) + (plainPath === "/" ? "" : plainPath) || "/";
  // Lax: the platforms redirect back from their own sites.
  const options = { ...rest, path, secure, httpOnly: true, sameSite: "lax" } as const;
  return {
    read: ({ request }) => cookieOf(request, name),
    write: (response, value) => response.withCookie(name, value, options),
    clear: (response) => response.withCookie(name, "", { ...options, maxAge: 0 }),
  };
};
