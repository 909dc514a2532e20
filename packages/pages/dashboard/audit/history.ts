import type { AuditEntry } from "@accountlink/core/audit";
import { type Html, html } from "../../html.ts";
import { timeHtml } from "../look/time.ts";
import { type Names, sentenceOf } from "./sentences.ts";

/**
 * @param entries newest first
 * @param nothing what the page says if there are no entries
 */
export const historyHtml = (
  entries: ReadonlyArray<AuditEntry>,
  names: Names,
  nothing = "Nothing is in the log so far.",
): Html =>
  entries.length === 0
    ? html`<p class="empty">${nothing}</p>`
    : html`<ul class="history" role="list">${entries.map(
        (entry) =>
          html`<li><span>${sentenceOf(entry, names)}</span> <small>${timeHtml(entry.at)}${entry.requestId === null ? null : html` · <code>${entry.requestId}</code>`}</small></li>`,
      )}</ul>`;
