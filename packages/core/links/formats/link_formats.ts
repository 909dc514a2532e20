import { Option } from "effect";
import { csv } from "./csv.ts";
import { detectingParser } from "./detected.ts";
import { jsonParser } from "./json.ts";
import type { LinkFormat } from "./link_format.ts";
import { ndjson } from "./ndjson.ts";
import { readText } from "./text_rows.ts";

/** The formats in which link files can be written, by the name that users choose. @internal */
export const linkFormats = { csv, ndjson } satisfies Record<string, LinkFormat>;

export type LinkFormatName = keyof typeof linkFormats;

/** @internal */
export const linkFormatNames = Object.keys(linkFormats) as ReadonlyArray<LinkFormatName>;

/**
 * Every format of link files that can be read, by name. `auto` detects the format.
 *
 * @example
 * ```ts
 * import { linkReaderNames, linkReaders } from "@accountlink/core/links";
 * import { Effect, Stream } from "effect";
 *
 * const file = Stream.encodeText(Stream.make('{"100001": "1", "100002": 1.2e17}'));
 * const rows = await Effect.runPromise(Stream.runCollect(linkReaders.auto(file)));
 * rows.map((row) => ("link" in row ? row.link.gameId : row.reason)); // ["1", "destroyed"]
 * linkReaderNames; // ["auto", "csv", "ndjson", "json"]
 * ```
 */
export const linkReaders = {
  auto: readText(detectingParser),
  csv: csv.read,
  ndjson: ndjson.read,
  json: readText(jsonParser),
} satisfies Record<string, LinkFormat["read"]>;

export type LinkReaderName = keyof typeof linkReaders;

export const linkReaderNames = Object.keys(linkReaders) as ReadonlyArray<LinkReaderName>;

/** Returns the format for a file name's extension. @internal */
export const formatOfName = (name: string): Option.Option<LinkFormatName> => {
  const ending = /\.([^.]*)$/.exec(name.toLowerCase())?.[1] ?? "";
  return Option.fromUndefinedOr(
    linkFormatNames.find((format) => linkFormats[format].endings.includes(ending)),
  );
};
