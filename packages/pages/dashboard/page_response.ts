/** Turns pages of the dashboard into responses, with headers and a content security policy. */
import { csvRow } from "@accountlink/core/csv";
import { HttpResponse, privateHeaders, textResponse } from "@accountlink/http/for_pages";
import { Effect, type Stream } from "effect";
import { documentBelow, type Html } from "../html.ts";
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

/** Writes a CSV file. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export const csvOf = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number | null>>,
): string => [columns, ...rows].map((cells) => `${csvRow(cells)}\r\n`).join("");
