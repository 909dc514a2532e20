/**
 * The cookie that identifies a browser in the flow.
 */
import { cookieOf } from "../http_request.ts";
import type { HttpResponse } from "../http_response.ts";
import { basePathOf } from "../mount.ts";
import type { RequestContext } from "../request_context.ts";

/** Reads and writes the cookie. */
export interface FlowCookie {
  /** Null when the browser has none. */
  readonly read: (context: RequestContext) => string | null;
  /** Sets a session cookie. */
  readonly write: (response: HttpResponse, cookie: string) => HttpResponse;
}

/** @param publicUrl where users reach the service; https gets the `__Host-` prefix */
export const flowCookie = (publicUrl: string): FlowCookie => {
  const secure = publicUrl.startsWith("https:");
  const name = secure ? "__Host-accountlink_flow" : "accountlink_flow";
  // Browsers take a `__Host-` cookie with the path "/" only.
  const path = secure ? "/" : basePathOf({ publicUrl }) || "/";
  return {
    read: ({ request }) => cookieOf(request, name),
    // Lax: the platforms redirect back from their own sites.
    write: (response, cookie) =>
      response.withCookie(name, cookie, { httpOnly: true, sameSite: "lax", path, secure }),
  };
};
