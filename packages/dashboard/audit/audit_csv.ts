/**
 * Entries of the audit log as a file.
 */
import type { AuditEntry } from "@accountlink/core/audit";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { csvOf } from "../csv.ts";
import { detailsText } from "./details_text.ts";

export const auditCsv = (entries: ReadonlyArray<AuditEntry>): string =>
  csvOf(
    ["at", "action", "actorType", "actorId", "pid", "requestId", "details"],
    entries.map((entry) => [
      formatTimestamp(entry.at),
      entry.action,
      entry.actor.type,
      entry.actor.id,
      entry.pid,
      entry.requestId,
      detailsText(entry),
    ]),
  );
