import { ChatId, GuildId } from "@accountlink/core";
import { noPlan, PlanNoticeStore, planNotices, RolePlanStore } from "@accountlink/core/roles";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Struct } from "effect";
import { Database } from "../database.ts";
import { memoryKv } from "../memory_kv.ts";
import { kvTable } from "../record_tables.ts";
import { keysLeft, makeScope, onStorage, origin, pid, scopeRef, storeEarlier } from "./test_storage.ts";

const place = { pid, guildId: GuildId.make("70001") };
const ada = ChatId.make("80001");

test("plans of earlier releases are read with their members and problems, but not those of removed plans", function* () {
  const kv = memoryKv();
  const linked = { roleId: "1", when: { is: "linked" } } as const;
  const rest = Struct.omit(noPlan, ["bypassRoleIds", "nicknameBypassRoleIds"]);
  const problem = { chatId: ada, roleId: "7", reason: "role_missing", at: 5 } as const;
  const ofPlan = { ...problem, chatId: null, roleId: null, reason: "no_permission" } as const;
  const plan = {
    ...place,
    ref: 2,
    scope: scopeRef,
    settings: { ...rest, state: "on", rules: [linked], bypassRoleId: "3" },
    position: 8,
    revision: 6,
    sweptAt: 3,
    sweep: { after: ada, done: 1, total: 9, startedAt: 4 },
    holder: "gone",
    puttingBackSince: 7,
  };
  const waits = { since: 5, dueAt: 6 };
  const memberOf = (ref: number, chatId: string, parts: object) =>
    [
      ["plan_member", ref, chatId],
      { ...place, ref, chatId, mark: 4, nickname: "Ada", waits: null, ...parts },
    ] as const;
  const problemsOf = (table: string) =>
    (
      [
        [2, ada, problem],
        [2, "", ofPlan],
        [1, ada, { ...problem, roleId: "9" }],
      ] as const
    ).map(
      ([ref, chatId, one]) => [[table, ref, chatId], { ...place, ref, chatId, problems: [one] }] as const,
    );
  yield* onStorage(kv, makeScope);
  const tables = yield* storeEarlier(kv, [
    [["plan", pid, place.guildId], plan],
    memberOf(2, ada, { waits }),
    memberOf(2, "80002", { replaced: { nickname: null, at: 9 } }),
    memberOf(1, "80003", { waits }),
    ...problemsOf("plan_problem"),
    ...problemsOf("problems"),
  ]);
  const read = Effect.gen(function* () {
    const plans = yield* RolePlanStore;
    return {
      held: yield* plans.hold({ node: "node", at: 10, until: 20, limit: 1 }),
      due: yield* plans.due(place, 9, 9),
      kept: yield* plans.keptNicknames(place, null, 9),
      puttingBack: (yield* plans.puttingBack()).length,
      problems: (yield* plans.status(place)).problems,
    };
  });
  const found = yield* onStorage(kv, read);
  const shared = { count: 1, chatIds: [ada] };
  expect(found).toEqual({
    held: [
      {
        ...noPlan,
        scope: { kind: "global", pid, account: "acme" },
        guildId: place.guildId,
        state: "on",
        rules: [{ ...linked, nickname: null }],
        bypassRoleIds: ["3"],
        position: 8,
        revision: 6,
        sweptAt: 3,
        sweep: { after: ada, done: 1, total: 9 },
        nextDueAt: 6,
        oldestSince: 5,
      },
    ],
    due: [{ chatId: ada, mark: 4, since: 5, nickname: "Ada" }],
    kept: [{ chatId: "80002", nickname: null, at: 9 }],
    puttingBack: 1,
    problems: [
      { ...ofPlan, count: 0, chatIds: [] },
      { ...problem, ...shared },
    ],
  });
  expect(yield* keysLeft(kv, tables)).toEqual([]);
});

test("a notice that an earlier release stored is looked at after the next change of problems", function* () {
  const kv = memoryKv();
  const unseen = Effect.gen(function* () {
    const [plans, notices] = [yield* RolePlanStore, yield* PlanNoticeStore];
    yield* makeScope;
    yield* plans.put({ ...origin, ...place, settings: { ...noPlan, state: "on" }, position: 0, at: 5 });
    const table = kvTable(planNotices);
    yield* new Database(kv).write(pid, function* (tx) {
      const stored = yield* tx.get(table, pid, place.guildId);
      if (stored !== undefined) yield* tx.put(table, Struct.omit(stored, ["unseenAt"]) as typeof stored);
    });
    const found = [yield* notices.unseen(9)];
    yield* plans.setProblem(place, "no_permission", 7);
    found.push(yield* notices.unseen(9));
    return found.map((each) => each.map(({ unseenAt }) => unseenAt));
  });
  expect(yield* onStorage(kv, unseen)).toEqual([[], [7]]);
});
