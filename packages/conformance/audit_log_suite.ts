/** What an adapter of `AuditLog` must do. */
import { type Actor, type AuditEntry, AuditLog } from "@accountlink/core";
import { Effect } from "effect";
import { expectDefect, expectEqual } from "./internal/expect.ts";
import type { Storage } from "./internal/storage.ts";
import { hostileTexts, unstorableTexts } from "./internal/texts.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";
import { makeWorld, origin, uniqueKeyId } from "./world.ts";

type NewEntry = Omit<AuditEntry, "sequence">;

const entryOf = (account: string, parts: Partial<NewEntry> = {}): NewEntry => ({
  ...origin,
  at: 0,
  account,
  pid: null,
  action: "links.imported",
  details: {},
  ...parts,
});

const withoutSequence = ({ sequence: _, ...entry }: AuditEntry): NewEntry => entry;

const cases: Cases<Storage> = {
  "list gives an account's entries, newest first": Effect.gen(function* () {
    const log = yield* AuditLog;
    const [{ account, guild }, { account: other }] = [yield* makeWorld, yield* makeWorld];
    const actors: ReadonlyArray<Actor> = [
      { type: "key", id: uniqueKeyId() },
      { type: "operator", id: "root" },
      { type: "account", id: account.name },
    ];
    const entries = actors.map((actor, i) =>
      entryOf(account.name, { actor, at: 9 - i, pid: guild.pid, requestId: null }),
    );
    yield* Effect.forEach(entries, log.append);
    yield* log.append(entryOf(other.name));
    expectEqual((yield* log.list(account.name, null, 10)).map(withoutSequence), entries.toReversed());
    expectEqual((yield* log.list(other.name, null, 10)).map(withoutSequence), [entryOf(other.name)]);
  }),

  "list pages by sequence": Effect.gen(function* () {
    const log = yield* AuditLog;
    const { account } = yield* makeWorld;
    const ats = [0, 1, 2, 3, 4];
    yield* Effect.forEach(ats, (at) => log.append(entryOf(account.name, { at })));
    const all = yield* log.list(account.name, null, 10);
    const first = yield* log.list(account.name, null, 2);
    const second = yield* log.list(account.name, first.at(-1)?.sequence ?? null, 2);
    const third = yield* log.list(account.name, second.at(-1)?.sequence ?? null, 2);
    expectEqual(all, [...first, ...second, ...third]);
    expectEqual(
      all.map(({ at }) => at),
      ats.toReversed(),
    );
    expectEqual(yield* log.list(account.name, all.at(-1)?.sequence ?? null, 2), []);
  }),

  "racing appends: each entry is there once, under a sequence of its own": Effect.gen(function* () {
    const log = yield* AuditLog;
    const { account } = yield* makeWorld;
    const ats = Array.from({ length: 40 }, (_, at) => at);
    yield* Effect.forEach(ats, (at) => log.append(entryOf(account.name, { at })), {
      concurrency: "unbounded",
    });
    const entries = yield* log.list(account.name, null, 100);
    expectEqual(
      entries.map(({ at }) => at).toSorted((one, other) => one - other),
      ats,
    );
    const sequences = entries.map(({ sequence }) => sequence);
    expectEqual(
      sequences,
      [...new Set(sequences)].toSorted((one, other) => other - one),
    );
  }),

  "details keep texts, numbers and null apart": Effect.gen(function* () {
    const log = yield* AuditLog;
    const { account } = yield* makeWorld;
    const numbers = { zero: 0, negative: -1.5, large: Number.MAX_SAFE_INTEGER, text: "0", nothing: null };
    const texts = Object.fromEntries(hostileTexts.map((text, i) => [`${i} ${text}`, text]));
    yield* log.append(entryOf(account.name, { details: { ...numbers, ...texts } }));
    expectEqual((yield* log.list(account.name, null, 1))[0]?.details, { ...numbers, ...texts });
  }),

  "who acted and what asked for it are texts": Effect.gen(function* () {
    const log = yield* AuditLog;
    const { account } = yield* makeWorld;
    for (const text of hostileTexts) {
      const entry = entryOf(account.name, { actor: { type: "operator", id: text }, requestId: text });
      yield* log.append(entry);
      expectEqual((yield* log.list(account.name, null, 1)).map(withoutSequence), [entry]);
    }
  }),

  "an entry with text that not every store can hold is a defect": Effect.gen(function* () {
    const log = yield* AuditLog;
    const { account } = yield* makeWorld;
    for (const text of unstorableTexts) {
      yield* expectDefect(log.append(entryOf(account.name, { actor: { type: "operator", id: text } })));
      yield* expectDefect(log.append(entryOf(account.name, { requestId: text })));
    }
    expectEqual(yield* log.list(account.name, null, 1), []);
  }),
};

/**
 * Tests the audit log of a layer. The layer has the other storage ports as well, whose suites test the entries that
 * their writes leave.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * auditLogSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const auditLogSuite = (options: SuiteOptions<Storage>): void => suite("AuditLog", options, cases);
