/** The pages of an import: upload, preview, progress and result. */
import {
  type ChangedLinks,
  type ImportOutcome,
  type ImportProgress,
  isGameColumn,
  type LeftOutReason,
  type UndoableImport,
} from "@accountlink/core/imports";
import { formTo, type Html, html, to } from "../../html.ts";
import { type Community, communityMenu } from "../communities/community.ts";
import { checkField, fileField, radioField, textField } from "../look/field.ts";
import { type AccountNames, byPlatforms, listText, nameIn, platforms } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { progressBar } from "../look/progress.ts";
import { refusedFor } from "../look/refused.ts";
import { linkTo, say, separated, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { numberHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { importPath, paths, rolesPath, userPath, withQuery } from "../paths.ts";
import { type FileMembers, fileMembersHtml } from "./file_members.ts";
import { type ImportForm, timesField, wordField } from "./import_form.ts";
import { leftOutHtml, reasonOf, type SampleRow, sampleTable } from "./left_out_rows.ts";
import { undoableSection, undoLink } from "./undo_pages.ts";

export interface ImportView {
  readonly id: string;
  readonly community: Community;
  readonly fileName: string;
  readonly changed: ChangedLinks;
  /** Until when the import can be undone; null before its end, and if it stored nothing. */
  readonly undo: UndoableImport | null;
}

const uploadKinds = [".csv", ".tsv", ".txt", ".json", ".ndjson", ".jsonl"];

export const uploadPage = (
  communities: ReadonlyArray<Community>,
  { pid, onConflict, named, columns, words, times }: ImportForm,
  { problem, undoable }: { readonly problem: Html | null; readonly undoable: ReadonlyArray<UndoableImport> },
): Page => ({
  title: say("import.title"),
  section: "imports",
  refused: refusedFor([], problem),
  content: html`
<p>${say("import.intro")}</p>
<p>${say("import.no_time")}</p>
${formTo(paths.imports, {}, html` enctype="multipart/form-data" class="panel"`)`
${communityMenu(communities, pid)}
${radioField({
  name: "onConflict",
  label: say("import.conflict"),
  value: onConflict,
  choices: conflictChoices.map((value) => ({
    value,
    label: say(`import.${value}`),
    hint: say(`import.${value}.hint`),
  })),
})}
<details${problem !== null ? html` open` : null}>
<summary>${say("import.columns")}</summary>
${columnFields.map(([name, label, names]) =>
  textField({
    name,
    label,
    hint: say("import.recognized", { names }),
    value: named[name],
    maxLength: 100,
  }),
)}
</details>
${columns.map(({ name, isIgnored }) => checkField("ignoreColumn", say("import.ignore", { name }), isIgnored, name))}
${words.map(wordField)}
${times && timesField(times)}
${fileField({ name: "file", label: say("import.file"), hint: say("import.file.hint", { kinds: uploadKinds.join(", ") }) })}
<button class="button">${say("import.preview")}</button>`}
${undoableSection(undoable, communities)}`,
});

const conflictChoices = ["newest", "keep", "replace"] as const;

/** The name that owners know for the column of game IDs, if imports recognize it. */
export const gameColumnName = byPlatforms(
  ({ game }) => html`${isGameColumn(`${game} ID`) ? `${game} ID` : "gameId"}`,
);

/** The fields that name columns, and the names that are recognized without them. */
const columnFields = [
  [
    "chatColumn",
    say("import.column.chat", { platform: platforms.chat }),
    "Discord ID, discord_id, user_id, chatId",
  ],
  ["gameColumn", say("import.column.chat", { platform: platforms.game }), html`${gameColumnName}, game_id`],
  ["timeColumn", say("import.column.time"), "Verified At, linked_at, created_at, timestamp"],
  ["verifiedColumn", say("import.column.verified"), "verified, status, active, is_deleted"],
] as const;

export const importPreviewPage = (
  view: ImportView,
  outcome: ImportOutcome,
  { sample, members }: { readonly sample: ReadonlyArray<SampleRow>; readonly members: FileMembers | null },
  names: AccountNames,
): Page => ({
  title: say("import.title"),
  section: "imports",
  notice: statusHtml(storedBy(outcome) === 0 ? nothingHtml(outcome) : say("import.is_preview"), "warn"),
  content: html`
${limitHtml(outcome)}
${fileMembersHtml(view.community, members)}
${outcomeHtml("import.would_store", view, outcome, names)}
${sampleTable(sample)}
${storedBy(outcome) > 0 && html`<p>${say("import.roles", { a: linkTo(rolesPath(view.community.scope.pid)) })}</p>`}
<div class="row">
${
  storedBy(outcome) === 0
    ? dropForm(view, say("import.other_file"))
    : html`
${formTo(`${importPath(view.id)}/start`)`
<button class="button">${say("import.start", { count: storedBy(outcome) })}</button>`}
${dropForm(view, say("import.drop"))}`
}
</div>`,
});

/** Says why nothing would be stored: every row is the same, or is left out for a few reasons. */
const nothingHtml = ({ unchanged, kept, reasons }: ImportOutcome): Html => {
  const counts = [
    [say("import.same"), unchanged],
    [say("import.stays"), kept],
    ...reasons.map(({ reason, count }) => [reasonOf(reason), count] as const),
  ] as const;
  const why = counts
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => say("import.left_reason", { reason, rows: say("import.rows", { count }) }));
  return html`${say("import.nothing")}${why.length > 0 && html` ${separated(why, "; ")}.`}`;
};

/** Shows the progress of an import. The script renews it, and shows the result at the end; the link does without one. */
export const importRunningPage = (view: ImportView, { phase, rows, total }: ImportProgress): Page => ({
  title: say("import.running"),
  section: "imports",
  content: html`
<div data-live="2">
<p>${say(`import.${phase}`, {
    file: view.fileName,
    list: listText(view.community),
    progress:
      total === null
        ? say("import.rows", { count: rows })
        : say("import.rows_of", { count: rows, total: numberHtml(total) }),
  })}</p>
${progressBar(say("import.progress"), { done: rows, total: total ?? 0 })}
</div>
<p>${say("import.leave")}</p>
<p><a class="button quiet" href="${to(importPath(view.id))}">${say("import.check")}</a></p>`,
});

export const importDonePage = (view: ImportView, outcome: ImportOutcome, names: AccountNames): Page => ({
  title: say("import.done"),
  section: "imports",
  notice: limitHtml(outcome) ?? statusHtml(say("import.done.notice")),
  content: html`
${outcomeHtml("import.stored", view, outcome, names)}
${view.undo && html`<p>${say("import.wrong_file", { undo: undoLink(view.undo) })}</p>`}
<div class="row">
<a class="button" href="${to(withQuery(paths.links, { pid: view.community.scope.pid }))}">${say("import.see_links")}</a>
${dropForm(view, say("import.another"))}
</div>`,
});

export const importFailedPage = (view: ImportView, reason: Html): Page => ({
  title: say("import.failed"),
  section: "imports",
  refused: { status: 200, problems: [], general: reason },
  content: html`
<p>${say("import.failed.text")}</p>
${view.undo && html`<p>${say("field.problem", { reason: undoLink(view.undo) })}</p>`}
${dropForm(view, say("import.again"))}`,
});

/** What an import stores, or would store: counts, changed links, and rows that are left out. */
const outcomeHtml = (
  key: "import.stored" | "import.would_store",
  view: ImportView,
  outcome: ImportOutcome,
  names: AccountNames,
): Html => html`
<p class="figure">${say(key, { count: storedBy(outcome), b: tags.b, file: view.fileName, list: listText(view.community) })}</p>
${countsTable(outcome)}
${changedHtml(view, names)}
${unreadHtml(outcome)}
${leftOutHtml(view, outcome)}`;

const storedBy = ({ inserted, replaced }: ImportOutcome): number => inserted + replaced;

/** Says how many rows do not fit into the plan; null if all fit. */
const limitHtml = ({ reasons }: ImportOutcome): Html | null => {
  const leftBy = (limit: LeftOutReason) => reasons.find(({ reason }) => reason === limit)?.count ?? 0;
  const [left, tomorrow] = [leftBy("link_limit"), leftBy("import_day")];
  if (left > 0) return statusHtml(say("import.link_limit", { count: left }), "bad");
  return tomorrow === 0 ? null : statusHtml(say("import.day_limit", { count: tomorrow }), "bad");
};

const dropForm = ({ id }: ImportView, label: Html): Html => formTo(`${importPath(id)}/drop`)`
<button class="button quiet">${label}</button>`;

const countsTable = ({ inserted, replaced, unchanged, kept, leftOut }: ImportOutcome): Html =>
  tableHtml({
    id: "counts",
    caption: say("import.counts"),
    columns: [
      [say("import.what"), ([label]) => label],
      [say("import.rows_label"), ([, count]) => numberHtml(count), "number"],
    ],
    rows: [
      [say("import.new"), inserted],
      [say("import.changes"), replaced],
      [say("import.same"), unchanged],
      [say("import.stays"), kept],
      [say("import.left_out"), leftOut],
    ] as const,
  });

const changedHtml = (
  { id, community, changed: { count, first } }: ImportView,
  { chats, games }: AccountNames,
): Html | false =>
  count !== 0 &&
  html`
${tableHtml({
  id: "changed",
  caption:
    count > first.length
      ? say("import.changed_first", { count, first: numberHtml(first.length) })
      : say("import.changed", { count }),
  columns: [
    [
      say("links.account_on", { platform: platforms.chat }),
      ({ chatId }) =>
        html`<a href="${to(userPath(community.scope.pid, chatId))}">${nameIn(chats, chatId)}</a>`,
    ],
    [
      say("import.before", { platform: platforms.game }),
      ({ previousGameId: old }) => (old === null ? say("import.not_linked") : nameIn(games, old)),
    ],
    [say("import.after", { platform: platforms.game }), ({ gameId }) => nameIn(games, gameId)],
  ],
  rows: first,
})}
<p class="more"><a class="button quiet small" href="${to(importPath(id))}/changed.csv">${say("import.changed.file")}</a></p>`;

const unreadHtml = ({ unreadColumns }: ImportOutcome): Html | false =>
  unreadColumns.length > 0 && html`<p>${say("import.unread", { columns: unreadColumns.join(", ") })}</p>`;
