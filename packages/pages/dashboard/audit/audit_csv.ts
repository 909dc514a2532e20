import { type AuditEntry, signedBy } from "@accountlink/core/audit";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { csvOf } from "../csv.ts";

export const auditCsv = (entries: ReadonlyArray<AuditEntry>): string =>
  csvOf(
    ["at", "action", "actorType", "actorId", "member", "pid", "requestId", "details"],
    entries.map((entry) => [
      formatTimestamp(entry.at),
      entry.action,
      entry.actor.type,
      entry.actor.id,
      signedBy(entry).member,
      entry.pid,
      entry.requestId,
      detailsText(entry),
    ]),
  );

const detailsText = ({ details: named }: AuditEntry): string =>
  Object.entries(named)
    .map(([name, value]) => `${name}: ${value ?? "none"}`)
    .join(", ");
