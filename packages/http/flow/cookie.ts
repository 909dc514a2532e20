/**
 * The cookie that identifies a browser in the flow.
 */
import { HttpServerResponse } from "effect/http";
import type { ServedContext } from "../request_context.ts";

/** Reads and writes the cookie. */
export interface FlowCookie {
  /** Null when the browser has none. */
  readonly read: (context: ServedContext) => string | null;
  /** Sets a session cookie. */
  readonly write: (
    response: HttpServerResponse.HttpServerResponse,
    cookie: string,
  ) => HttpServerResponse.HttpServerResponse;
}

/** @param publicUrl where users reach the service; https gets the `__Host-` prefix */
export const flowCookie = (publicUrl: string): FlowCookie => {
  const secure = publicUrl.startsWith("https:");
  const name = secure ? "__Host-accountlink_flow" : "accountlink_flow";
  return {
    read: ({ request }) => request.cookies[name] ?? null,
    // Lax: the platforms redirect back from their own sites.
    write: (response, cookie) =>
      HttpServerResponse.setCookieUnsafe(response, name, cookie, {
        httpOnly: true,
        sameSite: "lax",
        path: "/",
        secure,
      }),
  };
};
