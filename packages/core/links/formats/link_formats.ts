/**
 * The formats of link files: each one a file beside this one, and its line in `linkFormats`.
 */
import { Option } from "effect";
import { csv } from "./csv.ts";
import type { LinkFormat } from "./link_format.ts";
import { ndjson } from "./ndjson.ts";

/** Every format, by the name that users choose it by. */
export const linkFormats = { csv, ndjson } satisfies Record<string, LinkFormat>;

export type LinkFormatName = keyof typeof linkFormats;

export const linkFormatNames = Object.keys(linkFormats) as ReadonlyArray<LinkFormatName>;

/**
 * The format of a file, by the ending of its name.
 *
 * @example
 * ```ts
 * import { formatOfName, linkFormatNames } from "@accountlink/core/links";
 * import { Option } from "effect";
 *
 * formatOfName("links.jsonl"); // Option.some("ndjson")
 * formatOfName("links.txt"); // Option.none()
 * linkFormatNames; // ["csv", "ndjson"]
 * ```
 */
export const formatOfName = (name: string): Option.Option<LinkFormatName> => {
  const ending = /\.([^.]*)$/.exec(name.toLowerCase())?.[1] ?? "";
  return Option.fromUndefinedOr(
    linkFormatNames.find((format) => linkFormats[format].endings.includes(ending)),
  );
};
