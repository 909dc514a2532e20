import { expect, it } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import type { Pid } from "../ids.ts";
import { dayMs, hourMs } from "../timestamp.ts";
import type { AuditEntry, AuditFilter } from "./audit.ts";
import { mostSearched, searchEntries } from "./entry_search.ts";

/** Searches a log with an entry each hour, and returns what was found and how many records were read. */
const search = (filter: Partial<AuditFilter>, length: number, limit = 10) => {
  let reads = 0;
  const entryAt = (sequence: number): AuditEntry => ({
    sequence,
    at: sequence * hourMs,
    actor: { type: "operator", id: "ada" },
    requestId: null,
    account: "acme",
    pid: "pid" as Pid,
    action: "link.set",
    details: {},
  });
  const read = (before: number, size: number) =>
    Effect.sync(() => {
      const first = Math.max(1, before - size);
      const found = Array.from({ length: Math.max(0, before - first) }, (_, i) => entryAt(before - 1 - i));
      reads += found.length;
      return found;
    });
  const all = { action: null, keyId: null, ...filter };
  const page = Effect.runSync(searchEntries(read, (entry) => entry, length + 1, limit, all));
  return { ...page, reads };
};

it("a filter that selects nothing looks through a bounded number of records, and says where to go on", () => {
  const { entries, next, reads } = search({ action: "key.created" }, 100_000);
  expect([entries, reads]).toEqual([[], next === null ? 0 : 100_001 - next]);
  expect(reads).toBeLessThan(mostSearched + 1_000);
});

it("records from before the beginning of the time are not read", () => {
  const during = { from: 100_000 * hourMs - dayMs, before: Infinity };
  const { entries, next, reads } = search({ action: "key.created", during }, 100_000);
  expect([entries, next]).toEqual([[], null]);
  expect(reads).toBeLessThan(1_000);
});

it("a page names its last entry as the next one's beginning only if there are older entries", () => {
  expect(search({}, 11)).toMatchObject({ entries: { length: 10 }, next: 2 });
  expect(search({}, 10)).toMatchObject({ entries: { length: 10 }, next: null });
});
