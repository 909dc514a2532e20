/**
 * The cookie by which the flow knows a browser.
 */
import { HttpServerResponse } from "effect/http";
import type { Exchange } from "../exchange.ts";

/** Reads and writes the cookie. */
export interface FlowCookie {
  /** What the browser holds; null for nothing. */
  readonly read: (exchange: Exchange) => string | null;
  /** Has the browser hold it until it is closed. */
  readonly write: (
    response: HttpServerResponse.HttpServerResponse,
    cookie: string,
  ) => HttpServerResponse.HttpServerResponse;
}

/** @param publicUrl where users reach the service; over https no other host can set the cookie */
export const flowCookie = (publicUrl: string): FlowCookie => {
  const secure = publicUrl.startsWith("https:");
  const name = secure ? "__Host-accountlink_flow" : "accountlink_flow";
  return {
    read: ({ request }) => request.cookies[name] ?? null,
    // Lax, since the platforms send the browser back from their own sites.
    write: (response, cookie) =>
      HttpServerResponse.setCookieUnsafe(response, name, cookie, {
        httpOnly: true,
        sameSite: "lax",
        path: "/",
        secure,
      }),
  };
};
