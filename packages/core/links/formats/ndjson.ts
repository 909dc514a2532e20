/**
 * Links in NDJSON, an object on each line.
 */
import { Predicate } from "effect";
import { formatTimestamp } from "../../timestamp.ts";
import { fields, type LinkFormat, type LinkLine, quoted, readLink } from "./link_format.ts";
import { type LineParser, readLines } from "./text_lines.ts";

export const ndjson: LinkFormat = {
  endings: ["ndjson", "jsonl"],
  read: readLines(() => ndjsonParser()),
  header: "",
  write: ({ chatId, gameId, lastVerifiedAt }) =>
    `{"chatId":"${chatId}","gameId":"${gameId}","lastVerifiedAt":"${formatTimestamp(lastVerifiedAt)}"}\n`,
};

const ndjsonParser = (): LineParser => ({
  read: (text, line) => (text.trim() === "" ? null : readJson(text, line)),
  missing: () => null,
});

const readJson = (text: string, line: number): LinkLine => {
  const value = parseJson(text);
  if (!Predicate.isObject(value)) return { line, problem: "the line is not a JSON object" };
  const unknown = Object.keys(value).find((name) => !(fields as ReadonlyArray<string>).includes(name));
  return unknown === undefined
    ? readLink(value["chatId"], value["gameId"], value["lastVerifiedAt"], line)
    : { line, problem: `the field ${quoted(unknown)} is not known, expected ${fields.join(", ")}` };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
