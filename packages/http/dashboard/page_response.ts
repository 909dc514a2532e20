/** Pages of the dashboard as responses, with their headers and their content security policy. */
import { documentOf, type Page, type Visitor } from "@accountlink/dashboard";
import type { Html } from "@accountlink/html";
import { Effect, type Stream } from "effect";
import { HttpResponse, textResponse } from "../http_response.ts";
import { documentBelow } from "../mount.ts";
import { htmlType, privateHeaders } from "../pages/page.ts";

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageResponse = (page: Page, visitor: Visitor, footer: Html, basePath: string): HttpResponse =>
  textResponse(page.status, documentBelow(basePath, documentOf(page, visitor, footer)).source, htmlType, {
    ...privateHeaders,
    "content-security-policy": policy,
  });

export const csvResponse = (name: string, body: string | Stream.Stream<Uint8Array>): HttpResponse =>
  new HttpResponse(
    200,
    {
      ...privateHeaders,
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    },
    typeof body === "string" ? body : { chunks: body, release: Effect.void },
  );
