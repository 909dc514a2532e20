/** CSV files of the dashboard. */
import type { StoreUnavailable } from "@accountlink/core/errors";
import { csvRow } from "@accountlink/core/imports";
import { HttpResponse, privateHeaders } from "@accountlink/http/for_pages";
import { Effect, Option, Stream } from "effect";

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

type Cells = ReadonlyArray<string | number | null>;

/** Writes a CSV file, or its rows alone. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export const csvOf = (columns: ReadonlyArray<string> | null, rows: ReadonlyArray<Cells>): string =>
  [...(columns === null ? [] : [columns]), ...rows].map((cells) => `${csvRow(cells)}\r\n`).join("");

/** Sends a CSV file while it is read. @param page returns the rows after `last`; none after the last row */
export const pagedCsv = <Row>(
  name: string,
  columns: ReadonlyArray<string>,
  page: (last: Row | null) => Effect.Effect<ReadonlyArray<Row>, StoreUnavailable>,
  cellsOf: (row: Row) => Cells,
): HttpResponse => {
  const parts = Stream.paginate(null as Row | null, (last) =>
    Effect.map(page(last), (rows) => {
      const part = csvOf(last === null ? columns : null, rows.map(cellsOf));
      return [[part], Option.fromUndefinedOr(rows.at(-1))] as const;
    }),
  );
  return csvResponse(name, parts.pipe(Stream.encodeText, Stream.orDie));
};
