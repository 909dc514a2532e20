import { ChatId, type StoragePorts } from "@accountlink/core";
import { PlanNoticeStore } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { uniqueChatId } from "../mod.ts";
import { expectEqual } from "./expect.ts";
import { newRoleSteps, settings, start } from "./roles/role_steps.ts";
import { atOnce } from "./scopes.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";

const ada = ChatId.make(uniqueChatId());
const byAda = { actor: { type: "account", id: "acme", member: ada }, requestId: null } as const;

/** A community whose rules a member has turned on, and its notice if that is due. */
const turnedOn = Effect.gen(function* () {
  const store = yield* PlanNoticeStore;
  const steps = yield* newRoleSteps;
  yield* steps.put(settings, 0, start, byAda);
  // Other suites share the storage, so that their notices may be due before.
  const due = Effect.fnUntraced(function* (at: number) {
    for (;;) {
      const notice = yield* store.due(at);
      if (notice === null || notice.pid === steps.place.pid) return notice;
      yield* store.settle(notice, { toldAt: null, dueAt: null });
    }
  });
  return { ...steps, store, due };
});

const cases: Cases<StoragePorts> = {
  "who turned the rules on is kept, and a pause of the service makes a message due that one of several nodes sends":
    function* () {
      const { store, due, pause, place } = yield* turnedOn;
      expectEqual(yield* due(start), null);
      yield* pause;
      const notice = yield* due(start);
      const base = { ...place, chatId: ada, keyId: null, problemAt: null, problems: [] };
      expectEqual(notice, { ...base, toldAt: null, dueAt: start });
      if (notice === null) return;
      const told = { toldAt: start, dueAt: null };
      const won = yield* Effect.forEach([1, 2, 3], () => store.settle(notice, told), atOnce);
      expectEqual(won.filter(Boolean).length, 1);
      expectEqual(yield* due(start), null);
    },

  "the next message of a community is due a day later, unless a person turns or pauses the rules":
    function* () {
      const { store, due, put, pause, place } = yield* turnedOn;
      yield* pause;
      yield* store.settle({ ...place, dueAt: start }, { toldAt: start, dueAt: null });
      yield* put(settings, 0, start, byAda);
      yield* pause;
      expectEqual(yield* due(start + dayMs - 1), null);
      expectEqual((yield* due(start + dayMs))?.dueAt, start + dayMs);
      yield* put(settings, 0, start, byAda);
      expectEqual(yield* due(start + dayMs), null);
      yield* put({ ...settings, state: "paused" }, 0, start, byAda);
      expectEqual(yield* due(start + dayMs), null);
    },

  "a problem makes a message due once, until it is gone": function* () {
    const { store, due, place } = yield* turnedOn;
    const set = (problems: ReadonlyArray<string>, at: number) =>
      store.setProblems({ ...place, problemAt: at, problems, at });
    yield* store.setProblems({ ...place, problemAt: null, problems: [], at: 1 });
    expectEqual(yield* due(9), null);
    yield* set(["one"], 2);
    expectEqual((yield* due(9))?.dueAt, 2);
    yield* store.settle({ ...place, dueAt: 2 }, { toldAt: null, dueAt: null });
    yield* set(["one"], 3);
    expectEqual(yield* due(9), null);
    yield* set([], 4);
    yield* set(["one"], 5);
    expectEqual((yield* due(9))?.dueAt, 5);
  },

  "communities are looked at page by page, and those whose problems changed are found": function* () {
    const { store, place } = yield* turnedOn;
    const steps = yield* newRoleSteps;
    yield* steps.put(settings, 0, start, byAda);
    yield* steps.store.setProblem(steps.place, "no_permission", 7);
    const walk = Effect.gen(function* () {
      const found: Array<unknown> = [];
      let after: typeof place | null = null;
      do {
        const page: Effect.Success<ReturnType<typeof store.changed>> = yield* store.changed(after, 1);
        found.push(...page.found.filter(({ pid }) => pid === place.pid || pid === steps.place.pid));
        after = page.last;
      } while (after !== null);
      return found;
    });
    expectEqual(yield* walk, [{ ...steps.place, problemAt: 7 }]);
    yield* store.setProblems({ ...steps.place, problemAt: 7, problems: ["no_permission "], at: 8 });
    expectEqual(yield* walk, []);
    yield* steps.store.setProblem(steps.place, "no_permission", null);
    expectEqual(yield* walk, [{ ...steps.place, problemAt: null }]);
  },
};

/** Tests a `PlanNoticeStore` with the other storage ports. */
export const planNoticeStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("PlanNoticeStore", options, cases);
