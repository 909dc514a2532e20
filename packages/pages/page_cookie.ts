import { lastPageLife } from "@accountlink/core/flow";
import { basePathOf, cookieOf, type HttpResponse, type RequestContext } from "@accountlink/http/for_pages";

export interface PageCookie {
  /** Returns the value of the cookie; null if the browser sent none. */
  readonly read: (context: RequestContext) => string | null;
  readonly write: (response: HttpResponse, value: string) => HttpResponse;
  readonly clear: (response: HttpResponse) => HttpResponse;
}

interface CookieOptions {
  readonly path: string;
  readonly publicUrl: string;
  /** The lifetime in milliseconds; if left out, the cookie lasts until the browser closes. */
  readonly maxAge?: number;
  /** Whether others may read the cookie by its name, which then gets no prefix. */
  readonly hasPlainName?: boolean;
}

/**
 * Makes a cookie that scripts cannot read. If the public URL uses https, browsers send the cookie only over https.
 * Unless others know its name, this gets the prefix `__Secure-`, so that plain HTTP cannot set the cookie, or `__Host-` if
 * the path is `/`, so that other hosts cannot set it either.
 */
export const pageCookie = (
  plainName: string,
  { publicUrl, path: plainPath, hasPlainName = false, ...rest }: CookieOptions,
): PageCookie => {
  const secure = publicUrl.startsWith("https:");
  const isPrefixed = secure && !hasPlainName;
  const isHost = isPrefixed && plainPath === "/";
  const prefix = isHost ? "__Host-" : isPrefixed ? "__Secure-" : "";
  const name = `${prefix}${plainName}`;
  // Browsers accept a `__Host-` cookie only with the path "/".
  const path = isHost ? "/" : basePathOf({ publicUrl }) + (plainPath === "/" ? "" : plainPath) || "/";
  // With "strict", browsers would not send the cookie after a redirect from the site of a platform.
  const options = { ...rest, path, secure, httpOnly: true, sameSite: "lax" } as const;
  return {
    read: ({ request }) => cookieOf(request, name),
    write: (response, value) => response.withCookie(name, value, options),
    clear: (response) => response.withCookie(name, "", { ...options, maxAge: 0 }),
  };
};

/**
 * The cookie that recognizes a browser. Only the verification flow reads this cookie.
 *
 * @param maxAge how long sightings are stored, in milliseconds
 */
export const browserCookie = (publicUrl: string, maxAge: number): PageCookie =>
  pageCookie("accountlink_device", { path: "/verify", publicUrl, maxAge, hasPlainName: true });

/** The cookie that shows the last page of a flow again. */
export const lastPageCookie = (publicUrl: string): PageCookie =>
  pageCookie("accountlink_last_page", { path: "/verify", publicUrl, maxAge: lastPageLife });

/** The cookie of the verification flow. The page of a user's own data can begin a flow too. */
export const flowCookie = (publicUrl: string): PageCookie =>
  pageCookie("accountlink_flow", { path: "/", publicUrl });
