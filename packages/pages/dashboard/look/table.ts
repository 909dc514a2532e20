/** Tables that scroll horizontally if they are wider than the page. */
import type { ChatId, Pid } from "@accountlink/core";
import { type Html, html, to } from "../../html.ts";
import { userPath } from "../paths.ts";
import type { AccountNames } from "./names.ts";
import { plain, say } from "./say.ts";

/** A column: its label, and the cell of each row. The cells of the first column are the headers of the rows. */
export type Column<Row> = readonly [
  label: string | Html,
  cell: (row: Row, index: number) => Html | string,
  /** `unseen` hides the label of a column whose cells explain themselves. Screen readers still announce the label. */
  look?: "number" | "unseen",
];

interface Table<Row> {
  readonly id: string;
  readonly caption: string | Html;
  readonly columns: ReadonlyArray<Column<Row>>;
  readonly rows: ReadonlyArray<Row>;
  /** What stands in place of a table without rows. */
  readonly empty?: string | Html;
}

export const tableHtml = <Row>({ id, caption, columns, rows, empty }: Table<Row>): Html =>
  rows.length === 0 && empty !== undefined
    ? html`<p class="empty">${empty}</p>`
    : html`
<div class="scroller" role="region" aria-labelledby="${id}" tabindex="0">
<table>
<caption id="${id}">${caption}</caption>
<thead><tr>${columns.map(
        ([label, , look]) =>
          html`<th scope="col"${numberClass(look)}>${look === "unseen" ? html`<span class="unseen">${label}</span>` : label}</th>`,
      )}</tr></thead>
<tbody>
${rows.map((row, at) => html`<tr>${columns.map((column, index) => cellHtml(column, index, row, at))}</tr>`)}
</tbody>
</table>
</div>`;

export const memberColumn = (pid: Pid, names: AccountNames["chats"]): Column<{ readonly chatId: ChatId }> => [
  say("roles.member"),
  ({ chatId }) => html`<a href="${to(userPath(pid, chatId))}">${names.get(chatId) ?? chatId}</a>`,
];

/** The button that leads to the next page of a list; null on the last page. */
export const nextPage = (address: string | null, label: string | Html): Html | false =>
  address !== null &&
  html`<p class="more"><a class="button quiet" rel="next" href="${to(address)}">${label}</a></p>`;

const cellHtml = <Row>([label, cell, look]: Column<Row>, index: number, row: Row, at: number): Html => {
  if (index === 0) return html`<th scope="row">${cell(row, at)}</th>`;
  const labelled = look === "unseen" ? null : html` data-label="${plain(label)}"`;
  return html`<td${numberClass(look)}${labelled}>${cell(row, at)}</td>`;
};

const numberClass = (look: Column<never>[2]): Html | null =>
  look === "number" ? html` class="number"` : null;
