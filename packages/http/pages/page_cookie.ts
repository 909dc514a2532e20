/**
 * The cookies of pages.
 */
import { HttpServerResponse } from "effect/http";
import type { ServedContext } from "../request_context.ts";

type Response = HttpServerResponse.HttpServerResponse;

export interface PageCookie {
  /** Null when the browser has none. */
  readonly read: (context: ServedContext) => string | null;
  readonly write: (response: Response, value: string) => Response;
  readonly clear: (response: Response) => Response;
}

interface CookieOptions {
  readonly path: string;
  /** Where users reach the service. */
  readonly publicUrl: string;
  /** In milliseconds; without it the cookie ends with the browser. */
  readonly maxAge?: number;
}

/**
 * A cookie that no script reads. With an https URL its name has a prefix, so that browsers take it from nobody who
 * answers by http, and send it by https alone.
 */
export const pageCookie = (plainName: string, { publicUrl, path, ...rest }: CookieOptions): PageCookie => {
  const secure = publicUrl.startsWith("https:");
  const name = secure ? `${path === "/" ? "__Host-" : "__Secure-"}${plainName}` : plainName;
  // Lax: the platforms redirect back from their own sites.
  const options = { ...rest, path, secure, httpOnly: true, sameSite: "lax" } as const;
  return {
    read: ({ request }) => request.cookies[name] ?? null,
    write: (response, value) => HttpServerResponse.setCookieUnsafe(response, name, value, options),
    clear: (response) => HttpServerResponse.setCookieUnsafe(response, name, "", { ...options, maxAge: 0 }),
  };
};
