import { AuditLog, ChatId, LinkStore, type Pid, type StoragePorts } from "@accountlink/core";
import type { AuditEntry, AuditFilter, WriteOrigin } from "@accountlink/core/audit";
import { KeyStore } from "@accountlink/core/keys";
import { Effect } from "effect";
import { hostileTexts, makeKey, uniqueKeyId, uniqueText } from "../mod.ts";
import { expectEqual, pluck } from "./expect.ts";
import { atOnce, makeScopes, origin } from "./scopes.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";

/** Writes an audit entry. `deleteScope` always logs one, even if the scope is empty. */
const write = (pid: Pid, at: number, from: WriteOrigin = origin) =>
  LinkStore.use((links) => links.deleteScope({ ...from, pid, at }));

const seen = (entries: ReadonlyArray<AuditEntry>) => entries.map(({ at, action }) => `${at} ${action}`);

const cases: Cases<StoragePorts> = {
  "list filters by action and by key, and pages through the result": function* () {
    const [log, keys] = [yield* AuditLog, yield* KeyStore];
    const { account, global, guild } = yield* makeScopes;
    const other = yield* makeScopes;
    const [key, second] = [makeKey(global), makeKey(guild)];
    const byKey: WriteOrigin = { actor: { type: "key", id: key.id }, requestId: null };
    for (const each of [key, second]) {
      yield* keys.insertKey({ ...origin, key: each, hash: uniqueText(), maxKeys: null, at: 0 });
    }
    yield* write(global.pid, 1, byKey);
    yield* write(guild.pid, 2);
    yield* keys.updateKey({
      ...byKey,
      id: key.id,
      update: { status: "revoked" },
      at: 3,
      action: "key.reported",
    });
    yield* write(guild.pid, 4, byKey);
    yield* write(other.global.pid, 5, byKey);

    const list = (filter: Partial<AuditFilter>, before: number | null = null, limit = 10) =>
      log.list(account.name, before, limit, { action: null, keyId: null, ...filter });
    const created = "0 key.created";
    expectEqual((yield* list({})).length, 6);
    expectEqual(seen(yield* list({ action: "key.created" })), [created, created]);
    expectEqual(seen(yield* list({ action: "links.imported" })), []);
    const named = yield* list({ keyId: key.id });
    expectEqual(seen(named), ["4 scope.deleted", "3 key.reported", "1 scope.deleted", created]);
    expectEqual(seen(yield* list({ keyId: second.id })), [created]);
    expectEqual(seen(yield* list({ keyId: uniqueKeyId() })), []);
    expectEqual(seen(yield* list({ keyId: key.id, action: "scope.deleted" })), [
      "4 scope.deleted",
      "1 scope.deleted",
    ]);
    const first = yield* list({ keyId: key.id }, null, 3);
    const last = yield* list({ keyId: key.id }, first.at(-1)?.sequence ?? null, 3);
    expectEqual<ReadonlyArray<AuditEntry>>([...first, ...last], named);
  },

  "list filters by the member who made a change, and by a time without its end": function* () {
    const log = yield* AuditLog;
    const { account, global } = yield* makeScopes;
    const member = ChatId.make("100001");
    const byMember: WriteOrigin = { actor: { type: "account", id: account.name, member }, requestId: null };
    yield* write(global.pid, 1, byMember);
    yield* write(global.pid, 2);
    yield* write(global.pid, 3, byMember);
    const list = (filter: Partial<AuditFilter>) =>
      Effect.map(log.list(account.name, null, 10, { action: null, keyId: null, ...filter }), (entries) =>
        pluck(entries, "at"),
      );
    expectEqual(yield* list({ member }), [3, 1]);
    expectEqual(yield* list({ member: ChatId.make("100002") }), []);
    expectEqual(yield* list({ during: { from: 1, before: 3 } }), [2, 1]);
    expectEqual(yield* list({ member, during: { from: 2, before: 9 } }), [3]);
  },

  "forget deletes older entries of every account": function* () {
    const log = yield* AuditLog;
    const [one, other] = [yield* makeScopes, yield* makeScopes];
    for (const { global } of [one, other]) {
      yield* Effect.forEach([-20, -11, -10, 5], (at) => write(global.pid, at));
    }
    expectEqual(yield* log.forget(-10), 4);
    for (const { account } of [one, other]) {
      expectEqual(pluck(yield* log.list(account.name, null, 10), "at"), [5, -10]);
    }
    expectEqual(yield* log.forget(-10), 0);
  },

  "forget deletes any number of entries": function* () {
    const log = yield* AuditLog;
    const { account, global } = yield* makeScopes;
    yield* Effect.forEach(Array.from({ length: 1_100 }), () => write(global.pid, -20), {
      concurrency: 10,
      discard: true,
    });
    const racing = yield* Effect.all([log.forget(-10), log.forget(-10)], { concurrency: 2 });
    expectEqual(racing[0] + racing[1], 1_100);
    expectEqual(yield* log.list(account.name, null, 10), []);
  },

  "concurrent writes: each entry is stored once, with a unique sequence": function* () {
    const log = yield* AuditLog;
    const { account, global, guild } = yield* makeScopes;
    const ats = Array.from({ length: 40 }, (_, at) => at);
    yield* Effect.forEach(ats, (at) => write((at % 2 === 0 ? global : guild).pid, at), atOnce);
    const entries = yield* log.list(account.name, null, 100);
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
      const [entry] = yield* log.list(account.name, null, 1);
      expectEqual({ actor: entry?.actor, requestId: entry?.requestId }, from);
    }
  },
};

/**
 * Tests an `AuditLog` with the other storage ports. The suites of those ports test the entries that their writes log.
 */
export const auditLogSuite = (options: SuiteOptions<StoragePorts>): void => suite("AuditLog", options, cases);
