import { Option, Predicate } from "effect";
import type { PortableLink } from "../../links/link_store.ts";
import { formatTimestamp } from "../../timestamp.ts";
import { minecraft } from "./columns.ts";
import { csvParser } from "./csv.ts";
import { isIdKey, jsonParser, wrapping } from "./json.ts";
import { ndjsonParser, parseJson } from "./json_rows.ts";
import { type FileKind, fields, type LinkReader, UnreadableLinkFile } from "./link_format.ts";
import type { RowOptions } from "./row.ts";
import { longestRow, readText, type TextParser } from "./text_rows.ts";

const detectingParser = (options: RowOptions): TextParser => {
  let parser: TextParser | undefined;
  let start = "";
  return {
    take: (text) => {
      if (parser !== undefined) return parser.take(text);
      start += text;
      parser = parserFor(start, start.length > longestRow, options);
      return parser?.take(start) ?? [];
    },
    end: () => {
      if (parser !== undefined) return parser.end();
      parser = parserFor(start, true, options) ?? csvParser(options);
      const rows = parser.take(start);
      return rows.at(-1) instanceof UnreadableLinkFile ? rows : [...rows, ...parser.end()];
    },
  };
};

/** Returns the parser for a text; undefined while the text is too short to decide. A long blank start is read as CSV. */
const parserFor = (text: string, isEnough: boolean, options: RowOptions): TextParser | undefined => {
  const [first = "", ...others] = text.trimStart().split(/\r\n?|\n/, 2);
  if (first === "") return isEnough ? csvParser(options) : undefined;
  if (first.startsWith("[")) return jsonParser(options);
  const isWhole = others.length > 0 || isEnough;
  if (!isWhole) return undefined;
  if (first.startsWith("{")) return objectParser(first, options);
  return accountsOfDiscordSrv.test(first) ? refusing(minecraft, "minecraft") : csvParser(options);
};

/**
 * Returns the parser for a text that begins with an object. If the first line is a whole object without an ID as a key,
 * the text is read as NDJSON. If one of its keys is an ID, the text is read as a single object that maps IDs to IDs,
 * and members with other keys are reported as wrong rows.
 */
const objectParser = (line: string, options: RowOptions): TextParser => {
  const value = parseJson(line);
  if (!Predicate.isObject(value) || wrapping.test(line)) return jsonParser(options);
  const keys = Object.keys(value);
  return keys.length === 0 || keys.some(isIdKey) ? jsonParser(options, "members") : ndjsonParser(options);
};

/**
 * Matches a line of the DiscordSRV file `accounts.aof`: a Discord ID and a Minecraft UUID. A minus sign marks a removed
 * link.
 */
const accountsOfDiscordSrv = /^-?\d{5,20} -?[\da-f]{8}-[\da-f-]{27}$|^-[\da-f]{8}-[\da-f-]{27}$|^-\d{5,20}$/i;

const refusing = (reason: string, kind: FileKind): TextParser => ({
  take: () => [new UnreadableLinkFile({ line: 1, reason, said: { is: "file", kind } })],
  end: () => [],
});

interface LinkFormat {
  /** File extensions, in lower case, without the dot. */
  readonly endings: ReadonlyArray<string>;
  /** The text before the first link, such as the line of column names. Empty if the format has none. */
  readonly header: string;
  /** Returns the line of a link, including the line end. */
  readonly write: (link: PortableLink) => string;
}

/** The formats in which link files can be written, one link a line, by the name that users choose. @internal */
export const linkFormats = {
  csv: {
    endings: ["csv", "tsv"],
    header: `${fields.join(",")}\n`,
    // Cells need no quotes, because IDs and times contain no separators.
    write: ({ chatId, gameId, lastVerifiedAt }) => `${chatId},${gameId},${formatTimestamp(lastVerifiedAt)}\n`,
  },
  ndjson: {
    endings: ["ndjson", "jsonl"],
    header: "",
    write: ({ chatId, gameId, lastVerifiedAt }) =>
      `{"chatId":"${chatId}","gameId":"${gameId}","lastVerifiedAt":"${formatTimestamp(lastVerifiedAt)}"}\n`,
  },
} satisfies Record<string, LinkFormat>;

export type LinkFormatName = keyof typeof linkFormats;

/** @internal */
export const linkFormatNames = Object.keys(linkFormats) as ReadonlyArray<LinkFormatName>;

/**
 * Every format of link files that can be read, by name. `auto` detects the format.
 *
 * @example
 * ```ts
 * import { linkReaderNames, linkReaders } from "@accountlink/core/imports";
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
  csv: readText(csvParser),
  ndjson: readText(ndjsonParser),
  json: readText(jsonParser),
} satisfies Record<string, LinkReader>;

export type LinkReaderName = keyof typeof linkReaders;

export const linkReaderNames = Object.keys(linkReaders) as ReadonlyArray<LinkReaderName>;

/** Returns the format for a file name's extension. @internal */
export const formatOfName = (name: string): Option.Option<LinkFormatName> => {
  const ending = /\.([^.]*)$/.exec(name.toLowerCase())?.[1] ?? "";
  return Option.fromUndefinedOr(
    linkFormatNames.find((format) => linkFormats[format].endings.includes(ending)),
  );
};
