import { type AuditEntry, AuditLog } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { auditLogSuite } from "./mod.ts";

type Log = AuditLog["Service"];

const memory = StorageMemory.layer;

const changedEntries = (log: Log, change: (entry: AuditEntry) => AuditEntry): Partial<Log> => ({
  list: (account, before, limit) =>
    Effect.map(log.list(account, before, limit), (entries) => entries.map(change)),
});

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (log: Log) => Partial<Log>>> = {
  "list gives an account's entries, newest first": (log) => ({
    list: (account, before, limit) =>
      Effect.map(log.list(account, before, limit), (entries) =>
        entries.toSorted((one, other) => other.at - one.at),
      ),
  }),
  "list pages by sequence": (log) => ({
    list: (account, before, limit) => log.list(account, before === null ? null : before + 1, limit),
  }),
  "forget deletes what is from before a time, in every account": (log) => ({
    forget: (before) => log.forget(before + 1),
  }),
  "forget takes more than a step can": (log) => ({
    forget: (before) => Effect.map(log.forget(before), (forgotten) => Math.min(forgotten, 500)),
  }),
  "racing writes: each entry is there once, under a sequence of its own": (log) =>
    changedEntries(log, (entry) => ({ ...entry, sequence: Math.floor(entry.sequence / 2) })),
  "who acted and what asked for it are texts": (log) =>
    changedEntries(log, (entry) => ({ ...entry, requestId: entry.requestId?.trim() ?? null })),
};

test.describe("auditLogSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => auditLogSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, AuditLog, mistake);
    test.expect(await failingTitles((api) => auditLogSuite({ name: "", layer, test: api }))).toContain(title);
  });
});
