/** The pages of an import: upload, preview, progress and result. */
import {
  type ChangedLinks,
  type FileLink,
  type ImportOutcome,
  type ImportProgress,
  type LeftOutLine,
  type LeftOutReason,
  leftOutReasons,
  type UndoableImport,
} from "@accountlink/core/imports";
import { formTo, type Html, html, to } from "../../html.ts";
import { type Community, communityMenu } from "../communities/community.ts";
import { userPath } from "../links/links_page.ts";
import { checkField, radioField, textField } from "../look/field.ts";
import { type AccountNames, listText, nameIn, type PlatformNames } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { refusedFor } from "../look/refused.ts";
import { tableHtml } from "../look/table.ts";
import { counted, numberText, timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { importPath, paths, withQuery } from "../paths.ts";
import { type ImportForm, wordField } from "./import_form.ts";
import { undoableSection, undoLink } from "./undo_pages.ts";

type Importer = Pick<Visitor, "platforms">;

export interface ImportView {
  readonly id: string;
  readonly community: Community;
  readonly fileName: string;
  readonly changed: ChangedLinks;
  /** Until when the import can be undone; null before its end, and if it stored nothing. */
  readonly undo: UndoableImport | null;
}

export type SampleRow = { readonly line: number; readonly link: FileLink } | LeftOutLine;

/** The file extensions that the page names. */
const uploadKinds = [".csv", ".tsv", ".txt", ".json", ".ndjson", ".jsonl"];

/** `problem` says why a file was refused; null if none was refused. */
export const uploadPage = (
  communities: ReadonlyArray<Community>,
  { pid, onConflict, named, columns, words }: ImportForm,
  { platforms }: Importer,
  {
    problem,
    undoable,
  }: { readonly problem: string | null; readonly undoable: ReadonlyArray<UndoableImport> },
): Page => ({
  title: "Import links",
  section: "imports",
  refused: refusedFor([], problem),
  content: html`
<p>Import the links that your bot or another service has stored. You see a preview before anything is saved.</p>
<p>A row without a time gets the time of the import. When the user verified that link remains unknown.</p>
${formTo(paths.imports, html` enctype="multipart/form-data" class="panel"`)}
${communityMenu(communities, pid)}
${radioField({
  name: "onConflict",
  label: "If a user is already linked",
  value: onConflict,
  choices: [
    {
      value: "newest",
      label: "Keep the link that was verified last",
      hint: "Of two rows of one user, the later time counts; without times, the first row. A row without a time replaces no link.",
    },
    {
      value: "keep",
      label: "Keep the existing link",
      hint: "Of two rows of one user, the first row counts.",
    },
    {
      value: "replace",
      label: "Take the link from the file",
      hint: "Of two rows of one user, the last row counts.",
    },
  ],
})}
<details${problem !== null ? html` open` : null}>
<summary>My columns have other names</summary>
${textField({
  name: "chatColumn",
  label: `Column of IDs on ${platforms.chat}`,
  hint: "Recognized names: Discord ID, discord_id, user_id, chatId and similar ones.",
  value: named.chatColumn,
  maxLength: 100,
})}
${textField({
  name: "gameColumn",
  label: `Column of IDs on ${platforms.game}`,
  hint: "Recognized names: gameId, game_id and similar ones.",
  value: named.gameColumn,
  maxLength: 100,
})}
${textField({
  name: "timeColumn",
  label: "Column of times",
  hint: "Recognized names: Verified At, linked_at, created_at, timestamp and similar ones.",
  value: named.timeColumn,
  maxLength: 100,
})}
${textField({
  name: "verifiedColumn",
  label: "Column that says whether a link was verified",
  hint: "Recognized names: verified, status, active, is_deleted and similar ones.",
  value: named.verifiedColumn,
  maxLength: 100,
})}
</details>
${columns.map(({ name, isIgnored }) => checkField("ignoreColumn", `Ignore the column “${name}”`, isIgnored, name))}
${words.map(wordField)}
<div class="field">
<label for="file">File</label>
<p class="hint" id="file-hint">${uploadKinds.join(", ")} with CSV or JSON, up to 20 MB. For larger files or a database,
ask the operator of this service.</p>
<input type="file" id="file" name="file" aria-describedby="file-hint" required>
</div>
<button class="button">Preview the import</button>
</form>
${undoableSection(undoable, communities)}`,
});

export const importPreviewPage = (
  view: ImportView,
  outcome: ImportOutcome,
  sample: ReadonlyArray<SampleRow>,
  names: AccountNames,
  { platforms }: Importer,
): Page => ({
  title: "Import links",
  section: "imports",
  notice: statusHtml(
    storedBy(outcome) === 0
      ? "This file has no link to import. Nothing is saved."
      : "This is a preview. Nothing is saved yet.",
    "warn",
  ),
  content: html`
${limitHtml(outcome)}
<p class="figure"><strong>${counted(storedBy(outcome), "link")}</strong> of “${view.fileName}” would be stored in
${listText(view.community)}</p>
${countsTable(outcome)}
${changedHtml(view, names, platforms)}
${unreadHtml(outcome)}
${leftOutHtml(view, outcome, platforms)}
${sampleTable(sample, platforms)}
<div class="row">
${
  storedBy(outcome) === 0
    ? dropForm(view, "Choose another file")
    : html`
${formTo(`${importPath(view.id)}/start`)}
<button class="button">Import ${counted(storedBy(outcome), "link")}</button>
</form>
${dropForm(view, "Do not import")}`
}
</div>`,
});

/** Shows the progress of an import. The script renews it, and shows the result at the end; the link does without one. */
export const importRunningPage = (view: ImportView, { phase, rows, total }: ImportProgress): Page => ({
  title: "Importing links",
  section: "imports",
  content: html`
<div data-live="2">
<p>The import of “${view.fileName}” into ${listText(view.community)} is under way: ${phase}, ${counted(rows, "row")}${
    total === null ? null : html` of ${numberText(total)}`
  }.</p>
<progress aria-label="Progress" max="${total ?? 1}"${total === null ? null : html` value="${Math.min(rows, total)}"`}></progress>
</div>
<p>You can leave this page; the import continues.</p>
<p><a class="button quiet" href="${to(importPath(view.id))}">Check how far it is</a></p>`,
});

export const importDonePage = (
  view: ImportView,
  outcome: ImportOutcome,
  names: AccountNames,
  { platforms }: Importer,
): Page => ({
  title: "Links imported",
  section: "imports",
  notice: limitHtml(outcome) ?? statusHtml("The links are imported."),
  content: html`
<p class="figure"><strong>${counted(storedBy(outcome), "link")}</strong> of “${view.fileName}” were stored in
${listText(view.community)}</p>
${countsTable(outcome)}${changedHtml(view, names, platforms)}
${unreadHtml(outcome)}
${leftOutHtml(view, outcome, platforms)}
${view.undo && html`<p>Was it the wrong file? ${undoLink(view.undo)}.</p>`}
<div class="row">
<a class="button" href="${to(withQuery(paths.links, { pid: view.community.scope.pid }))}">See the links</a>
${dropForm(view, "Import another file")}
</div>`,
});

export const importFailedPage = (view: ImportView, reason: string): Page => ({
  title: "The import stopped",
  section: "imports",
  refused: { status: 200, problems: [], general: reason },
  content: html`
<p>The links imported so far are saved. Upload the same file again to continue.</p>
${view.undo && html`<p>${undoLink(view.undo)}.</p>`}
${dropForm(view, "Upload the file again")}`,
});

const storedBy = ({ inserted, replaced }: ImportOutcome): number => inserted + replaced;

/** Says how many rows do not fit into the plan; null if all fit. */
const limitHtml = ({ reasons }: ImportOutcome): Html | null => {
  const leftBy = (limit: LeftOutReason) => reasons.find(({ reason }) => reason === limit)?.count ?? 0;
  const [left, tomorrow] = [leftBy("link_limit"), leftBy("import_day")].map((count) =>
    counted(count, "row is", "rows are"),
  );
  if (leftBy("link_limit") > 0)
    return statusHtml(`Your plan allows no more links: the import stops there, and ${left} left.`, "bad");
  if (leftBy("import_day") === 0) return null;
  return statusHtml(
    `Imports change at most three times as many links a day as your plan holds: ${tomorrow} left. Import the file again tomorrow.`,
    "bad",
  );
};

const dropForm = ({ id }: ImportView, label: string): Html => html`
${formTo(`${importPath(id)}/drop`)}
<button class="button quiet">${label}</button>
</form>`;

const countsTable = ({ inserted, replaced, unchanged, kept, leftOut }: ImportOutcome): Html =>
  tableHtml({
    id: "counts",
    caption: "What happens to the rows",
    columns: ["What", { label: "Rows", isNumber: true }],
    rows: [
      ["New", numberText(inserted)],
      ["Changes the account or the time", numberText(replaced)],
      ["Already the same", numberText(unchanged)],
      ["The existing link stays", numberText(kept)],
      ["Left out", numberText(leftOut)],
    ],
  });

const changedHtml = (
  { id, community, changed: { count, first } }: ImportView,
  { chats, games }: AccountNames,
  platforms: PlatformNames,
): Html | null =>
  count === 0
    ? null
    : html`
${tableHtml({
  id: "changed",
  caption: `${counted(count, "user who gets another account", "users who get another account")}${count > first.length ? `: the first ${first.length}` : ""}`,
  columns: [`Account on ${platforms.chat}`, `On ${platforms.game} before`, `On ${platforms.game} after`],
  rows: first.map(({ chatId, previousGameId, gameId }) => [
    html`<a href="${to(userPath(community.scope.pid, chatId))}">${nameIn(chats, chatId)}</a>`,
    previousGameId === null ? "not linked" : nameIn(games, previousGameId),
    nameIn(games, gameId),
  ]),
})}
<p class="more"><a class="button quiet small" href="${to(importPath(id))}/changed.csv">Download the users who change</a></p>`;

const unreadHtml = ({ unreadColumns }: ImportOutcome): Html | null =>
  unreadColumns.length === 0 ? null : html`<p>Columns that are not read: ${unreadColumns.join(", ")}</p>`;

/** Names IDs and users by their platform, such as "the ID on Discord" in place of `chatId`. */
export const said = (problem: string, { chat, game }: PlatformNames): string =>
  problem
    .replace(/^chatId\b/, `the ID on ${chat}`)
    .replace(/^gameId\b/, `the ID on ${game}`)
    .replace(/^The chat ID\b/, `The ID on ${chat}`)
    .replace(/^The game ID\b/, `The ID on ${game}`)
    .replace(/^chat user\b/, "user");

const leftOutHtml = (
  view: ImportView,
  { reasons, leftOut }: ImportOutcome,
  platforms: PlatformNames,
): Html | null =>
  leftOut === 0
    ? null
    : html`
<h2>Left out</h2>
${reasons.map(
  ({ reason, count, first }) => html`
<details>
<summary>${said(leftOutReasons[reason], platforms)}: ${counted(count, "row")}</summary>
<ul>${first.map(({ line, problem }) => html`<li>Line ${line}: ${said(problem, platforms)}</li>`)}${
    count > first.length ? html`<li>and ${counted(count - first.length, "row")} more</li>` : null
  }</ul>
</details>`,
)}
<p class="more"><a class="button quiet small" href="${to(importPath(view.id))}/left_out.csv">Download the rows that are left out</a></p>`;

const sampleTable = (sample: ReadonlyArray<SampleRow>, platforms: PlatformNames): Html =>
  tableHtml({
    id: "sample",
    caption: "The first rows of the file, by line",
    columns: [
      "Line",
      `ID on ${platforms.chat}`,
      `ID on ${platforms.game}`,
      "Last verified",
      "Left out because",
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
        : [String(row.line), "", "", "", said(row.problem, platforms)],
    ),
  });
