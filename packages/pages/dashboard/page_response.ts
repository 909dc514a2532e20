/** Turns pages of the dashboard into responses, with headers and a content security policy. */

import { HttpResponse, privateHeaders, textResponse } from "@accountlink/http/for_pages";
import { Effect, type Stream } from "effect";
import { documentBelow } from "../base_path.ts";
import type { Html } from "../html.ts";
import { htmlType } from "../page.ts";
import { documentOf, type Page, type Visitor } from "./page.ts";

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

export const pageResponse = (page: Page, visitor: Visitor, footer: Html, basePath: string): HttpResponse => {
  const { source } = documentBelow(basePath, documentOf(page, visitor, footer));
  const headers = { ...privateHeaders, "content-security-policy": policy };
  return textResponse(page.status ?? 200, source, htmlType, headers);
};

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
