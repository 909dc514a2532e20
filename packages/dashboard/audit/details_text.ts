import type { AuditEntry } from "@accountlink/core/audit";

/** The details of an entry, with their names. */
export const detailsText = ({ details: named }: AuditEntry): string =>
  Object.entries(named)
    .map(([name, value]) => `${name}: ${value ?? "none"}`)
    .join(", ");
