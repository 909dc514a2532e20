/** Links in NDJSON, one object per line. */
import { formatTimestamp } from "../../timestamp.ts";
import { jsonRows } from "./json_rows.ts";
import type { LinkFormat } from "./link_format.ts";
import type { RowOptions } from "./row.ts";
import { linesParser } from "./text_lines.ts";
import { readText, type TextParser } from "./text_rows.ts";

export const ndjsonParser = (options: RowOptions): TextParser => {
  const { value } = jsonRows(options);
  return linesParser({
    read: (text, line) => (text.trim() === "" ? [] : [value(text, line)]),
    end: () => [],
  });
};

export const ndjson: LinkFormat = {
  endings: ["ndjson", "jsonl"],
  read: readText(ndjsonParser),
  header: "",
  write: ({ chatId, gameId, lastVerifiedAt }) =>
    `{"chatId":"${chatId}","gameId":"${gameId}","lastVerifiedAt":"${formatTimestamp(lastVerifiedAt)}"}\n`,
};
