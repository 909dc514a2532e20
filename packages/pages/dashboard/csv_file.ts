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

/**
 * Emits a file, which fails if its reader may no longer read it. Asks once a second, however many parts the file has, and
 * at its end, since a list that was deleted with its account has no more links.
 */
export const whileAllowed = <A, E, R, E2>(
  file: Stream.Stream<A, E, R>,
  mayRead: Effect.Effect<unknown, E2>,
) =>
  Stream.unwrap(
    Effect.map(Effect.cachedWithTTL(mayRead, "1 second"), (ask) =>
      Stream.concat(
        Stream.mapArrayEffect(file, (part) => Effect.as(ask, part)),
        Stream.fromEffectDrain(mayRead),
      ),
    ),
  );

/**
 * Sends a CSV file while it is made. Breaks the connection on an error, and once the reader may no longer read it, so that
 * nobody takes a partial file for a complete one.
 */
export const csvStream = <E, E2>(
  name: string,
  file: Stream.Stream<Uint8Array, E>,
  mayRead: Effect.Effect<unknown, E2>,
): HttpResponse => csvResponse(name, Stream.orDie(whileAllowed(file, mayRead)));

/** Emits a CSV file page by page. @param page returns the rows after `last`; none after the last row */
export const pagedCsv = <Row>(
  columns: ReadonlyArray<string>,
  page: (last: Row | null) => Effect.Effect<ReadonlyArray<Row>, StoreUnavailable>,
  cellsOf: (row: Row) => Cells,
): Stream.Stream<Uint8Array, StoreUnavailable> =>
  Stream.paginate(null as Row | null, (last) =>
    Effect.map(page(last), (rows) => {
      const part = csvOf(last === null ? columns : null, rows.map(cellsOf));
      return [[part], Option.fromUndefinedOr(rows.at(-1))] as const;
    }),
  ).pipe(Stream.encodeText);
