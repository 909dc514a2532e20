/** Which rows of a file an import leaves out and why, and the first rows of the file. */
import type { FileLink, ImportOutcome, LeftOutLine, LeftOutReason } from "@accountlink/core/imports";
import { type Html, html, to } from "../../html.ts";
import { platforms } from "../look/names.ts";
import { say, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { timeOr } from "../look/time.ts";
import { importPath } from "../paths.ts";

export type SampleRow = { readonly line: number; readonly link: FileLink } | LeftOutLine;

export const leftOutHtml = (
  { id }: { readonly id: string },
  { reasons, leftOut }: ImportOutcome,
): Html | false =>
  leftOut !== 0 &&
  html`
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

export const reasonOf = (reason: LeftOutReason): Html => say(`import.reason.${reason}`, platforms);

export const rowHtml = ({ reason, text }: LeftOutLine): Html =>
  say("import.left_reason", { reason: reasonOf(reason), rows: tags.code(html`${text}`) });

export const sampleTable = (sample: ReadonlyArray<SampleRow>): Html =>
  tableHtml({
    id: "sample",
    caption: say("import.sample"),
    columns: [
      [say("import.sample.line"), ({ line }) => String(line)],
      [say("import.sample.id", { platform: platforms.chat }), (row) => linkIn(row)?.chatId ?? ""],
      [say("import.sample.id", { platform: platforms.game }), (row) => linkIn(row)?.gameId ?? ""],
      [say("links.last_verified"), (row) => timeOr(linkIn(row)?.lastVerifiedAt ?? null, "")],
      [say("import.sample.left_out"), (row) => ("link" in row ? "" : reasonOf(row.reason))],
    ],
    rows: sample,
  });

const linkIn = (row: SampleRow): FileLink | null => ("link" in row ? row.link : null);
