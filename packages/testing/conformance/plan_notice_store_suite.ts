import { ChatId, type StoragePorts } from "@accountlink/core";
import type { Conflict, StoreUnavailable } from "@accountlink/core/errors";
import { type DueNotice, PlanNoticeStore, RolePlanStore } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { check, uniqueChatId, uniqueText } from "../mod.ts";
import { expectEqual } from "./expect.ts";
import { newRoleSteps, problemOf, settings, settled, start } from "./roles/role_steps.ts";
import { atOnce, origin } from "./scopes.ts";
import type { Cases } from "./suite.ts";

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
      const [notice = null] = yield* store.due(at, 1, null);
      if (notice === null || notice.pid === steps.place.pid) return notice;
      yield* store.settle(notice, { toldAt: null, dueAt: null });
    }
  });
  return { ...steps, store, due };
});

type Happening = "on" | "paused" | "stopped" | "problem" | "solved" | "told";

/** What happens to the rules of a community, and how long after the step before. */
const happenings = FastCheck.array(
  FastCheck.record({
    wait: FastCheck.constantFrom(0, 1, dayMs / 2, dayMs - 1, dayMs),
    what: FastCheck.constantFrom<Happening>("on", "paused", "stopped", "problem", "solved", "told", "told"),
  }),
  { minLength: 10, maxLength: 20 },
);

/** Whether the rules are on, whether a problem of theirs is known, and whether there is something to tell. */
interface Rules {
  readonly isOn: boolean;
  readonly isKnown: boolean;
  readonly waits: boolean;
}

/** A person who turns the rules leaves nothing to tell, and a problem that is known is not told again. */
const afterwards = (rules: Rules, what: Happening): Rules => {
  const { isOn, isKnown, waits } = rules;
  switch (what) {
    case "on":
    case "paused":
      return { ...rules, isOn: what === "on", waits: waits && isOn === (what === "on") };
    case "stopped":
      return { ...rules, isOn: false, waits: waits || isOn };
    case "problem":
      return { ...rules, isKnown: true, waits: waits || !isKnown };
    case "solved":
      return { ...rules, isKnown: false };
    case "told":
      return rules;
  }
};

export const planNoticeCases: Cases<StoragePorts> = {
  "whatever happens to the rules of a community, one message a day is due at most, and no cause is lost":
    check(
      happenings,
      Effect.fnUntraced(function* (all) {
        const { store, due, put, place, scope } = yield* turnedOn;
        const plans = yield* RolePlanStore;
        const happen = (what: Happening, at: number): Effect.Effect<unknown, Conflict | StoreUnavailable> => {
          if (what === "on" || what === "paused") return put({ ...settings, state: what }, 0, at, byAda);
          if (what === "stopped") return plans.pause({ ...origin, ...place, at, why: "unmanaged" });
          const problems = what === "problem" ? ["one"] : [];
          return what === "told"
            ? Effect.void
            : store.setProblems({ ...place, unseenAt: null, problems, at });
        };
        let at = start;
        let mayTellAt = 0;
        let rules: Rules = { isOn: true, isKnown: false, waits: false };
        for (const { wait, what } of all) {
          at += wait;
          yield* happen(what, at);
          rules = afterwards(rules, what);
          const notice = yield* due(at);
          expectEqual(notice?.account ?? null, rules.waits && at >= mayTellAt ? scope.account : null);
          if (what !== "told" || notice === null) continue;
          yield* store.settle(notice, { toldAt: at, dueAt: null });
          mayTellAt = at + dayMs;
          rules = { ...rules, waits: false };
        }
      }),
      { runs: 8 },
    ),

  "who turned the rules on is kept, and a pause of the service makes a message due that one of several nodes sends":
    function* () {
      const { store, due, pause, place, scope } = yield* turnedOn;
      expectEqual(yield* due(start), null);
      yield* pause;
      const notice = yield* due(start);
      const base = { ...place, account: scope.account, chatId: ada, keyId: null, problems: [] };
      expectEqual(notice, { ...base, toldAt: null, dueAt: start, problemAt: start + 1, unseenAt: start + 1 });
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

  "messages that are due are read in pages, the one that is due the longest first": function* () {
    const { store } = yield* turnedOn;
    const all = yield* Effect.replicateEffect(turnedOn, 5);
    for (const { pause } of all) yield* pause;
    const found: Array<DueNotice> = [];
    for (let last: DueNotice | null = null; ; ) {
      const page: ReadonlyArray<DueNotice> = yield* store.due(start, 2, last);
      found.push(...page);
      last = page.at(-1) ?? null;
      if (page.length < 2) break;
    }
    expectEqual(new Set(found.map(({ pid }) => pid)).size, found.length);
    const times = found.map(({ dueAt }) => dueAt ?? start + 1);
    expectEqual(
      times,
      times.toSorted((one, other) => one - other),
    );
    for (const { place, scope } of all)
      expectEqual(found.find(({ pid }) => pid === place.pid)?.account, scope.account);
  },

  "a community is looked at once after each write that may have changed its problems": function* () {
    const { store, place, settle, settleOne, put, hold, remove } = yield* turnedOn;
    const plans = yield* RolePlanStore;
    const unseen = Effect.map(store.unseen(1_000_000), (found) =>
      found.flatMap(({ pid, unseenAt }) => (pid === place.pid ? [unseenAt] : [])),
    );
    const look = Effect.gen(function* () {
      const found = yield* unseen;
      for (const unseenAt of found) yield* store.setProblems({ ...place, unseenAt, problems: [], at: 1 });
      return found.length;
    });
    expectEqual(yield* look, 1);
    expectEqual(yield* look, 0);
    const node = uniqueText();
    yield* hold(node);
    const [right, wrong] = [settled(ada), settled(ada, { problems: [problemOf(ada)] })];
    const looksAfter: ReadonlyArray<readonly [number, Effect.Effect<unknown, StoreUnavailable>]> = [
      [0, plans.setProblem(place, "no_permission", null)],
      [1, plans.setProblem(place, "no_permission", start)],
      [1, plans.setProblem(place, "no_permission", null)],
      [0, settle(node, [right])],
      [1, settle(node, [wrong])],
      [1, settle(node, [right])],
      [1, settle(node, [], { problems: [problemOf(null)] })],
      [1, settleOne(wrong)],
      [1, settleOne(right)],
      [0, settleOne(right)],
      [1, settle(node, [], { sweep: "ended" })],
      [0, settle(node, [], { sweep: "ended" })],
      [0, put({ ...settings, nickname: null })],
      [1, put({ ...settings, state: "paused" })],
      [1, remove],
    ];
    for (const [index, [looks, write]] of looksAfter.entries()) {
      yield* write;
      expectEqual([index, yield* look], [index, looks]);
    }

    // Of two changes at the same time, the second comes while the first is looked at.
    yield* put();
    const [first = null] = yield* unseen;
    yield* plans.setProblem(place, "no_permission", start);
    yield* store.setProblems({ ...place, unseenAt: first, problems: [], at: 1 });
    expectEqual(yield* look, 1);
    expectEqual(yield* look, 0);
  },
};
