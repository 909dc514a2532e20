import { AuditLog } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { auditLogSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Log = AuditLog["Service"];

const changedEntries = (log: Log, change: (entry: AuditEntry) => AuditEntry): Partial<Log> => ({
  list: (account, before, limit) =>
    Effect.map(log.list(account, before, limit), (entries) => entries.map(change)),
});

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(auditLogSuite, StorageMemory.layer, AuditLog, {
  "list returns the entries of an account, newest first": (log) => ({
    list: (account, before, limit) =>
      Effect.map(log.list(account, before, limit), (entries) =>
        entries.toSorted((one, other) => other.at - one.at),
      ),
  }),
  "list pages by sequence": (log) => ({
    list: (account, before, limit) => log.list(account, before === null ? null : before + 1, limit),
  }),
  "forget deletes older entries of every account": (log) => ({
    forget: (before) => log.forget(before + 1),
  }),
  "forget deletes any number of entries": (log) => ({
    forget: (before) => Effect.map(log.forget(before), (forgotten) => Math.min(forgotten, 500)),
  }),
  "concurrent writes: each entry is stored once, with a unique sequence": (log) =>
    changedEntries(log, (entry) => ({ ...entry, sequence: Math.floor(entry.sequence / 2) })),
  "actors and request IDs keep every Unicode text": (log) =>
    changedEntries(log, (entry) => ({ ...entry, requestId: entry.requestId?.trim() ?? null })),
});
