import { ChatId, GuildId, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { noPlan, PlanNoticeStore, planNotices, RolePlanStore } from "@accountlink/core/roles";
import { Effect, Struct } from "effect";
import { expect, it } from "vitest";
import { Database } from "../database.ts";
import { memoryKv } from "../memory_kv.ts";
import { kvTable } from "../record_tables.ts";
import { layer } from "../storage_kv.ts";
import { earlierMembers, earlierPlans, earlierProblems } from "./earlier_plans.ts";

const place = { pid: Pid.make("pid_0000000000000000"), guildId: GuildId.make("70001") };
const ada = ChatId.make("80001");

const begin = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  yield* keys.ensureScope("acme", { kind: "global" }, place.pid);
});

it("plans of earlier releases are read with their members and problems, but not those of removed plans", async () => {
  const kv = memoryKv();
  await Effect.runPromise(Effect.provide(begin, layer(Effect.succeed(kv))));
  const linked = { roleId: "1", when: { is: "linked" } } as const;
  const rest = Struct.omit(noPlan, ["bypassRoleIds", "nicknameBypassRoleIds"]);
  const problem = { chatId: ada, roleId: "7", reason: "role_missing", at: 5 } as const;
  const ofPlan = { ...problem, chatId: null, roleId: null, reason: "no_permission" } as const;
  const member = { ...place, mark: 4, nickname: "Ada", waits: null };
  await Effect.runPromise(
    new Database(kv).write("earlier", function* (tx) {
      yield* tx.put(earlierPlans, {
        ...place,
        ref: 2,
        scope: { pid: place.pid, account: 1, target: { kind: "global" } },
        settings: { ...rest, state: "on", rules: [linked], bypassRoleId: "3" },
        position: 8,
        revision: 6,
        sweptAt: 3,
        sweep: { after: ada, done: 1, total: 9, startedAt: 4 },
        holder: "gone",
        puttingBackSince: 7,
      });
      const waits = { since: 5, dueAt: 6 };
      yield* tx.put(earlierMembers, { ...member, ref: 2, chatId: ada, waits });
      yield* tx.put(earlierMembers, {
        ...member,
        ref: 2,
        chatId: ChatId.make("80002"),
        replaced: { nickname: null, at: 9 },
      });
      yield* tx.put(earlierMembers, { ...member, ref: 1, chatId: ChatId.make("80003"), waits });
      for (const table of earlierProblems) {
        yield* tx.put(table, { ...place, ref: 2, chatId: ada, problems: [problem] });
        yield* tx.put(table, { ...place, ref: 2, chatId: "", problems: [ofPlan] });
        yield* tx.put(table, { ...place, ref: 1, chatId: ada, problems: [{ ...problem, roleId: "9" }] });
      }
    }),
  );
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
  const found = await Effect.runPromise(Effect.provide(read, layer(Effect.succeed(kv))));
  const shared = { count: 1, chatIds: [ada] };
  expect(found).toEqual({
    held: [
      {
        ...noPlan,
        scope: { kind: "global", pid: place.pid, account: "acme" },
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
  const left = await Effect.runPromise(
    kv.list({ start: "plan", end: "problems~" }, { limit: 9, reverse: false }),
  );
  expect(left.map(({ key }) => key).filter((key) => !key.startsWith("plan_notices"))).toEqual([]);
});

it("a notice that an earlier release stored is looked at after the next change of problems", async () => {
  const kv = memoryKv();
  const unseen = Effect.gen(function* () {
    const [plans, notices] = [yield* RolePlanStore, yield* PlanNoticeStore];
    yield* begin;
    const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
    yield* plans.put({ ...origin, ...place, settings: { ...noPlan, state: "on" }, position: 0, at: 5 });
    const table = kvTable(planNotices);
    yield* new Database(kv).write(place.pid, function* (tx) {
      const stored = yield* tx.get(table, place.pid, place.guildId);
      if (stored !== undefined) yield* tx.put(table, Struct.omit(stored, ["unseenAt"]) as typeof stored);
    });
    const found = [yield* notices.unseen(9)];
    yield* plans.setProblem(place, "no_permission", 7);
    found.push(yield* notices.unseen(9));
    return found.map((each) => each.map(({ unseenAt }) => unseenAt));
  });
  expect(await Effect.runPromise(Effect.provide(unseen, layer(Effect.succeed(kv))))).toEqual([[], [7]]);
});
