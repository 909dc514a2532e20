/**
 * Entries of the audit log as a table.
 */

import type { AuditEntry } from "@accountlink/core/audit";
import type { KeyDetails } from "@accountlink/core/keys";
import { type Html, html } from "@accountlink/html";
import { tableHtml } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import { actions, actorText } from "./actions.ts";

/** @param keys those whose names are known */
export const auditTable = (
  id: string,
  caption: string,
  entries: ReadonlyArray<AuditEntry>,
  keys: ReadonlyArray<KeyDetails>,
): Html =>
  entries.length === 0
    ? html`<p class="empty">Nothing has happened so far.</p>`
    : tableHtml({
        id,
        caption,
        columns: [{ label: "When" }, { label: "What" }, { label: "Who" }, { label: "Details" }],
        rows: entries.map((entry) => [
          timeHtml(entry.at),
          actions[entry.action],
          actorText(entry.actor, keys),
          details(entry),
        ]),
      });

const details = (entry: AuditEntry): Html =>
  html`<span class="details">${detailsText(entry)}</span>${entry.requestId === null ? null : html` <small>${entry.requestId}</small>`}`;

/** The details of an entry, with their names. */
export const detailsText = ({ details: named }: AuditEntry): string =>
  Object.entries(named)
    .map(([name, value]) => `${name}: ${value ?? "none"}`)
    .join(", ");
