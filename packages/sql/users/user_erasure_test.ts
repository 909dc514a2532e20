/** Tests the erasure of a user with much data, which is made in steps. */
import { ChatId, Pid } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { KeyStore } from "@accountlink/core/keys";
import { UserStore, unfinishedAfter } from "@accountlink/core/users";
import { Effect, Fiber, Option } from "effect";
import { expect } from "vitest";
import { endTurn, origin, scope, Tampering, test } from "../sqlite/test_tampering.ts";

const ada = ChatId.make("10001");
const account = { name: "ada", chatId: ada, tier: "free" } as const;
/** The records of a step. */
const step = 200;
const count = 4 * step;

/** Records of the journal: by the user in the scope, and by another member of the user's account about this account. */
const manyRecords = `
  INSERT INTO journal (place, sequence, at, action, actor_type, actor_id, member, details)
  WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count / 2})
  SELECT '${scope.pid}', i, 1, 'link.set', 'account', 'acme', '${ada}', '{}' FROM numbers
  UNION ALL SELECT 'account ada', i, 1, 'key.created', 'account', 'ada', '10002', '{}' FROM numbers`;

const isTheirs = `member = '${ada}' OR actor_id = 'ada' OR place = 'account ada'`;

const newAccount = Effect.gen(function* () {
  const { tamper, look } = yield* Tampering;
  yield* KeyStore.use((keys) => keys.ensureAccount(account));
  tamper(manyRecords);
  yield* endTurn;
  const left = () => look(`SELECT 1 FROM journal WHERE member = '${ada}' OR actor_id = 'ada'`).length;
  const write = { ...origin, chatId: ada, at: 1, ownerHash: "hash" };
  const erase = (pseudonym: string, scopes: ReadonlyArray<Pid> = []) =>
    UserStore.use((users) => users.erase({ ...write, pseudonym, scopes }));
  const { entries, unfinished } = yield* UserStore;
  return { tamper, look, left, erase, entries, unfinished };
});

test("an interrupted erasure is found, and ended under its first pseudonym", function* () {
  const { look, left, erase, unfinished } = yield* newAccount;
  const erasing = yield* Effect.forkChild(erase("first"));
  while (left() === count) yield* Effect.yieldNow;
  yield* Fiber.interrupt(erasing);
  const rest = left();
  expect(rest).toBeGreaterThan(0);
  expect(rest % step).toBe(0);

  const later = Date.now() + unfinishedAfter;
  expect(yield* unfinished(0)).toEqual([]);
  expect(yield* unfinished(later)).toEqual([{ chatId: ada, ...origin }]);
  expect(Option.getOrThrow(yield* erase("second"))).toMatchObject({ accounts: 1, entries: rest });
  expect(yield* unfinished(later)).toEqual([]);
  expect(look(`SELECT 1 FROM journal WHERE ${isTheirs}`)).toEqual([]);
  expect(look("SELECT 1 FROM journal WHERE place = 'account first'").length).toBe(count / 2 + 1);
});

test("an erasure in steps has one entry in each scope, which counts all that was erased there", function* () {
  const { tamper, look, erase } = yield* newAccount;
  const pids = Array.from({ length: 120 }, (_, index) => Pid.make(`pid_${String(index).padStart(16, "0")}`));
  tamper(`
    INSERT INTO scopes (pid, account, guild_id) SELECT value, 'acme', value FROM json_each('${JSON.stringify(pids)}');
    INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
      SELECT pid, '${ada}', '1', 1, 1, 1 FROM scopes`);
  const all = [...pids, scope.pid];
  expect(Option.isNone(yield* erase("first", pids))).toBe(true);
  tamper(`INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT '${pids[0]}', '${ada}', '1', 1, 1, 1`);
  expect(Option.getOrThrow(yield* erase("first", all))).toMatchObject({ records: 2 });
  // The link that was made again after the scope was told has an entry of its own.
  for (const [pid, told] of [
    [pids[0], 2],
    [pids[1], 1],
    [pids[119], 1],
  ]) {
    expect(look(`SELECT 1 FROM journal WHERE action = 'user.erased' AND place = '${pid}'`).length).toBe(told);
  }
  expect(look("SELECT 1 FROM links")).toEqual([]);
});

test("the entries of a user are read page by page, each once", function* () {
  const { entries } = yield* newAccount;
  const found: Array<AuditEntry> = [];
  for (let page = yield* entries(ada, null, 150); page.length > 0; ) {
    expect(page.length).toBeLessThanOrEqual(150);
    found.push(...page);
    page = yield* entries(ada, page.at(-1) ?? null, 150);
  }
  expect(new Set(found.map(({ sequence, pid }) => `${pid} ${sequence}`)).size).toBe(count);
  expect(found.map(({ sequence }) => sequence)).toEqual(
    found.map(({ sequence }) => sequence).toSorted((one, other) => one - other),
  );
});
