/** Which rows of a file an import leaves out and why, and the first rows of the file. */
import type { FileLink, ImportOutcome, LeftOutLine, LeftOutReason } from "@accountlink/core/imports";
import { type Html, html, to } from "../../html.ts";
import type { PlatformNames } from "../look/names.ts";
import { reasonHtml } from "../look/reasons.ts";
import { say } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import { importPath } from "../paths.ts";

export type SampleRow = { readonly line: number; readonly link: FileLink } | LeftOutLine;

/** Names IDs and users by their platform, such as "the ID on Discord" in place of `chatId`. */
export const said = (problem: string, { chat, game }: PlatformNames): string =>
  problem
    .replace(/^chatId\b/, `the ID on ${chat}`)
    .replace(/^gameId\b/, `the ID on ${game}`)
    .replace(/^The chat ID\b/, `The ID on ${chat}`)
    .replace(/^The game ID\b/, `The ID on ${game}`)
    .replace(/^chat user\b/, "user");

export const leftOutHtml = (
  { id }: { readonly id: string },
  { reasons, leftOut }: ImportOutcome,
  platforms: PlatformNames,
): Html | null =>
  leftOut === 0
    ? null
    : html`
<h2>${say("import.left_out")}</h2>
${reasons.map(
  ({ reason, count, first }) => html`
<details>
<summary>${say("import.left_reason", { reason: reasonOf(reason, platforms), rows: say("import.rows", { count }) })}</summary>
<ul>${first.map(({ line, problem }) => html`<li>${say("import.line", { line: String(line), problem: reasonHtml(said(problem, platforms)) })}</li>`)}${
    count > first.length ? html`<li>${say("import.more_rows", { count: count - first.length })}</li>` : null
  }</ul>
</details>`,
)}
<p class="more"><a class="button quiet small" href="${to(importPath(id))}/left_out.csv">${say("import.left_out.file")}</a></p>`;

/** Why rows are left out, with the names of the platforms. */
const reasonOf = (reason: LeftOutReason, { chat, game }: PlatformNames): Html =>
  say(`import.reason.${reason}`, { chat, game });

export const sampleTable = (sample: ReadonlyArray<SampleRow>, platforms: PlatformNames): Html =>
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
        : [String(row.line), "", "", "", reasonHtml(said(row.problem, platforms))],
    ),
  });
