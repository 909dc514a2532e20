import { AuditLog, ChatId, GameId, LinkStore, type Pid, type StoragePorts } from "@accountlink/core";
import type { AuditFilter, AuditPage, WriteOrigin } from "@accountlink/core/audit";
import { dayMs, hourMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { hostileTexts, uniqueChatId, uniqueKeyId } from "../mod.ts";
import { expectEqual, pluck } from "./expect.ts";
import { atOnce, makeScopes, origin } from "./scopes.ts";
import type { Cases } from "./suite.ts";

/** Writes an audit entry. `deleteScope` always logs one, even if the scope is empty. */
const write = (pid: Pid, at: number, from: WriteOrigin = origin) =>
  LinkStore.use((links) => links.deleteScope({ ...from, pid, at }));

/** The suites of other ports test the entries that their writes log. */
export const auditLogCases: Cases<StoragePorts> = {
  "list filters by the member or the key that made a change, and by a time without its end": function* () {
    const log = yield* AuditLog;
    const { account, global } = yield* makeScopes;
    const [member, keyId] = [ChatId.make("100001"), uniqueKeyId()];
    const byMember: WriteOrigin = { actor: { type: "account", id: account.name, member }, requestId: null };
    yield* write(global.pid, 1, byMember);
    yield* write(global.pid, 2, { actor: { type: "key", id: keyId }, requestId: null });
    yield* write(global.pid, 3, byMember);
    const list = (filter: Partial<AuditFilter>) =>
      Effect.map(log.list(account.name, null, 10, { action: null, keyId: null, ...filter }), ({ entries }) =>
        pluck(entries, "at"),
      );
    expectEqual(yield* list({ member }), [3, 1]);
    expectEqual(yield* list({ member: ChatId.make("100002") }), []);
    expectEqual([yield* list({ keyId }), yield* list({ keyId: uniqueKeyId() })], [[2], []]);
    expectEqual(yield* list({ during: { from: 1, before: 3 } }), [2, 1]);
    expectEqual(yield* list({ member, during: { from: 2, before: 9 } }), [3]);
  },

  "a day is found in a long log, page by page": function* () {
    const log = yield* AuditLog;
    const { account, global, guild } = yield* makeScopes;
    const ats = Array.from({ length: 40 }, (_, number) => number * 2 * hourMs);
    yield* Effect.forEach(ats, (at, number) => write((number % 3 === 0 ? global : guild).pid, at));
    const during = { from: dayMs, before: 2 * dayMs };
    const list = (before: number | null) =>
      log.list(account.name, before, 8, { action: null, keyId: null, during });
    const first = yield* list(null);
    const second = yield* list(first.next);
    const found = [...first.entries, ...second.entries];
    expectEqual(pluck(found, "at"), ats.filter((at) => at >= dayMs && at < 2 * dayMs).toReversed());
    expectEqual(second.next, null);
  },

  "pages have the newest entries of all scopes, also where those of one scope are all newer": function* () {
    const log = yield* AuditLog;
    const { account, global, guild } = yield* makeScopes;
    const ats = Array.from({ length: 50 }, (_, at) => at);
    yield* Effect.forEach(ats, (at) => write((at < 20 || at % 10 === 0 ? guild : global).pid, at));
    for (const limit of [1, 12, 30]) {
      const found: Array<number> = [];
      let before: number | null = null;
      do {
        const { entries, next }: AuditPage = yield* log.list(account.name, before, limit);
        found.push(...pluck(entries, "at"));
        before = next;
      } while (before !== null);
      expectEqual(found, ats.toReversed());
    }
  },

  "forget deletes older entries of every account": function* () {
    const log = yield* AuditLog;
    const [one, other] = [yield* makeScopes, yield* makeScopes];
    for (const { global } of [one, other]) {
      yield* Effect.forEach([-20, -11, -10, 5], (at) => write(global.pid, at));
    }
    expectEqual(yield* log.forget(-10), 4);
    for (const { account } of [one, other]) {
      expectEqual(pluck((yield* log.list(account.name, null, 10)).entries, "at"), [5, -10]);
    }
    expectEqual(yield* log.forget(-10), 0);
  },

  "forget deletes any number of entries": function* () {
    const log = yield* AuditLog;
    const { account, global } = yield* makeScopes;
    const links = yield* LinkStore;
    const set = (chatId: ChatId) =>
      links.setGame({ ...origin, pid: global.pid, chatId, gameId: GameId.make("1"), at: -20 });
    yield* Effect.forEach(Array.from({ length: 1_100 }, uniqueChatId), set, {
      concurrency: 10,
      discard: true,
    });
    const racing = yield* Effect.all([log.forget(-10), log.forget(-10)], { concurrency: 2 });
    expectEqual(racing[0] + racing[1], 1_100);
    expectEqual((yield* log.list(account.name, null, 10)).entries, []);
  },

  "concurrent writes: each entry is stored once, with a unique sequence": function* () {
    const log = yield* AuditLog;
    const { account, global, guild } = yield* makeScopes;
    const ats = Array.from({ length: 40 }, (_, at) => at);
    yield* Effect.forEach(ats, (at) => write((at % 2 === 0 ? global : guild).pid, at), atOnce);
    const { entries } = yield* log.list(account.name, null, 100);
    expectEqual(
      entries.map(({ at }) => at).toSorted((one, other) => one - other),
      ats,
    );
    const sequences = entries.map(({ sequence }) => sequence);
    expectEqual(
      sequences.filter((sequence) => sequence >= 1e15),
      [],
    );
    expectEqual(
      sequences,
      [...new Set(sequences)].toSorted((one, other) => other - one),
    );
  },

  "actors and request IDs keep every Unicode text": function* () {
    const log = yield* AuditLog;
    const { account, global } = yield* makeScopes;
    for (const text of hostileTexts) {
      const from: WriteOrigin = { actor: { type: "operator", id: text }, requestId: text };
      yield* write(global.pid, 0, from);
      const [entry] = (yield* log.list(account.name, null, 1)).entries;
      expectEqual({ actor: entry?.actor, requestId: entry?.requestId }, from);
    }
  },
};
