/** CSV files of the dashboard. */
import { csvRow } from "@accountlink/core/imports";
import { HttpResponse, privateHeaders } from "@accountlink/http/for_pages";
import { Effect, type Stream } from "effect";

/** @param requestId the ID of a request to a JSON route */
export const csvResponse = (
  name: string,
  body: string | Stream.Stream<Uint8Array>,
  requestId: string | null = null,
): HttpResponse =>
  new HttpResponse(
    200,
    {
      ...privateHeaders,
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
      ...(requestId !== null && { "x-request-id": requestId }),
    },
    typeof body === "string" ? body : { chunks: body, release: Effect.void },
  );

/** Writes a CSV file. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export const csvOf = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number | null>>,
): string => [columns, ...rows].map((cells) => `${csvRow(cells)}\r\n`).join("");
