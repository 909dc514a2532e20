import { type PageCookie, pageCookie } from "./page_cookie.ts";

/**
 * The cookie that recognizes a browser. Only the verification flow reads this cookie.
 *
 * @param maxAge how long sightings are stored, in milliseconds
 */
export const browserCookie = (publicUrl: string, maxAge: number): PageCookie =>
  pageCookie("accountlink_device", { path: "/verify", publicUrl, maxAge });
