/**
 * Pages of the dashboard as responses, with their headers and their content security policy.
 */
import { documentOf, type Page, type Visitor } from "@accountlink/dashboard";
import type { Html } from "@accountlink/html";
import { HttpServerResponse } from "effect/http";
import { documentBelow } from "../mount.ts";
import { privateHeaders } from "../pages/page.ts";

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

export const pageResponse = (
  page: Page,
  visitor: Visitor,
  footer: Html,
  basePath: string,
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(documentBelow(basePath, documentOf(page, visitor, footer)).source, {
    status: page.status,
    contentType: "text/html; charset=utf-8",
    headers: { ...privateHeaders, "content-security-policy": policy },
  });

/** A file to download. */
export const csvResponse = (name: string, text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, {
    contentType: "text/csv; charset=utf-8",
    headers: { ...privateHeaders, "content-disposition": `attachment; filename="${name}.csv"` },
  });
