import { GuildId, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { noPlan, PlanNoticeStore, planNotices, RolePlanStore } from "@accountlink/core/roles";
import { Effect, Struct } from "effect";
import { expect, it } from "vitest";
import { Database } from "../database.ts";
import { memoryKv } from "../memory_kv.ts";
import { kvTable } from "../records.ts";
import { layer } from "../storage_kv.ts";

const place = { pid: Pid.make("pid_0000000000000000"), guildId: GuildId.make("70001") };

const begin = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  yield* keys.ensureScope("acme", { kind: "global" }, place.pid);
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
