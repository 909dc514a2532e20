/** Tables that scroll horizontally if they are wider than the page. */
import { Html, html, to } from "../../html.ts";
import { plain } from "./say.ts";

export interface Table {
  readonly id: string;
  readonly caption: string | Html;
  readonly columns: ReadonlyArray<Column | string | Html>;
  /** One cell for each column; the first cell is the row's header. */
  readonly rows: ReadonlyArray<ReadonlyArray<Html | string>>;
}

interface Column {
  readonly label: string | Html;
  readonly isNumber?: boolean;
  /** Hides the label of a column whose cells explain themselves. Screen readers still announce the label. */
  readonly isUnseen?: boolean;
}

export const tableHtml = ({ id, caption, columns: named, rows }: Table): Html => {
  const columns = named.map(
    (column): Column => (typeof column === "string" || column instanceof Html ? { label: column } : column),
  );
  return html`
<div class="scroller" role="region" aria-labelledby="${id}" tabindex="0">
<table>
<caption id="${id}">${caption}</caption>
<thead><tr>${columns.map(
    (column) =>
      html`<th scope="col"${numberClass(column)}>${
        column.isUnseen === true ? html`<span class="unseen">${column.label}</span>` : column.label
      }</th>`,
  )}</tr></thead>
<tbody>
${rows.map((cells) => html`<tr>${cells.map((cell, index) => cellHtml(cell, index, columns[index]))}</tr>`)}
</tbody>
</table>
</div>`;
};

/** The button that leads to the next page of a list; null on the last page. */
export const nextPage = (address: string | null, label: string | Html): Html | null =>
  address === null
    ? null
    : html`<p class="more"><a class="button quiet" rel="next" href="${to(address)}">${label}</a></p>`;

const cellHtml = (cell: Html | string, index: number, column: Column | undefined): Html =>
  index === 0
    ? html`<th scope="row">${cell}</th>`
    : html`<td${numberClass(column)}${labelOf(column)}>${cell}</td>`;

const labelOf = (column: Column | undefined): Html | null =>
  column === undefined || column.isUnseen === true ? null : html` data-label="${plain(column.label)}"`;

const numberClass = (column: Column | undefined): Html | null =>
  column?.isNumber === true ? html` class="number"` : null;
