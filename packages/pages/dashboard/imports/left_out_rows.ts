/** Which rows of a file an import leaves out and why, and the first rows of the file. */
import type { FileLink, ImportOutcome, LeftOutLine, LeftOutReason } from "@accountlink/core/imports";
import { type Html, html, to } from "../../html.ts";
import { platforms } from "../look/names.ts";
import { say, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import { importPath } from "../paths.ts";

export type SampleRow = { readonly line: number; readonly link: FileLink } | LeftOutLine;

export const leftOutHtml = (
  { id }: { readonly id: string },
  { reasons, leftOut }: ImportOutcome,
): Html | null =>
  leftOut === 0
    ? null
    : html`
<h2>${say("import.left_out")}</h2>
${reasons.map(
  ({ reason, count, first }) => html`
<details>
<summary>${say("import.left_reason", { reason: reasonOf(reason), rows: say("import.rows", { count }) })}</summary>
<ul>${first.map(({ line, text }) => html`<li>${say("import.line", { line: String(line), problem: tags.code(html`${text}`) })}</li>`)}${
    count > first.length ? html`<li>${say("import.more_rows", { count: count - first.length })}</li>` : null
  }</ul>
</details>`,
)}
<p class="more"><a class="button quiet small" href="${to(importPath(id))}/left_out.csv">${say("import.left_out.file")}</a></p>`;

/** Why rows are left out, with the names of the platforms. */
export const reasonOf = (reason: LeftOutReason): Html => say(`import.reason.${reason}`, platforms);

/** Why a row is left out, with its text. */
export const rowHtml = ({ reason, text }: LeftOutLine): Html =>
  say("import.left_reason", { reason: reasonOf(reason), rows: tags.code(html`${text}`) });

export const sampleTable = (sample: ReadonlyArray<SampleRow>): Html =>
  tableHtml({
    id: "sample",
    caption: say("import.sample"),
    columns: [
      say("import.sample.line"),
      say("import.sample.id", { platform: platforms.chat }),
      say("import.sample.id", { platform: platforms.game }),
      say("links.last_verified"),
      say("import.sample.left_out"),
    ],
    rows: sample.map((row) =>
      "link" in row
        ? [
            String(row.line),
            row.link.chatId,
            row.link.gameId,
            row.link.lastVerifiedAt === null ? "" : timeHtml(row.link.lastVerifiedAt),
            "",
          ]
        : [String(row.line), "", "", "", reasonOf(row.reason)],
    ),
  });
