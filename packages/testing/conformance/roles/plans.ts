import type { StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import {
  noPlan,
  type PlanPreview,
  type PlanProblem,
  PreviewStore,
  PreviewTally,
  previewTime,
} from "@accountlink/core/roles";
import { hourMs } from "@accountlink/core/timestamp";
import { Effect, Option, Struct } from "effect";
import { uniqueChatId, uniquePid, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { atOnce, eraseUser, makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import {
  listed,
  newRoleSteps,
  paused,
  problemOf,
  roleSteps,
  settings,
  settled,
  start,
  uniqueGuildId,
} from "./role_steps.ts";

const gone = (at: number) => problemOf(null, { roleId: "3", reason: "item_unknown", at });

export const plans: Cases<StoragePorts> = {
  "a problem of the plan is set by any node, replaces its like, and goes alone": function* () {
    const { putHeld, place, store, settleOne, status, remove } = yield* newRoleSteps;
    yield* putHeld();
    const closed = problemOf(null, { roleId: "2", reason: "source_closed", at: start });
    yield* settleOne(settled(uniqueChatId(), { problems: [closed] }));
    for (const at of [start + 1, start + 2]) yield* store.setProblem(place, "reminders_refused", at);
    const refused = problemOf(null, { roleId: null, reason: "reminders_refused", at: start + 2 });
    expectEqual((yield* status).problems, [listed(refused), listed(closed)]);
    yield* store.setProblem(place, "reminders_refused", null);
    expectEqual((yield* status).problems, [listed(closed)]);
    yield* remove;
    yield* store.setProblem(place, "reminders_refused", start);
    expectEqual((yield* status).problems, []);
  },

  "a problem of reminders lasts for an hour, whatever is changed meanwhile": function* () {
    const { place, put, status, store } = yield* newRoleSteps;
    yield* put();
    yield* store.setProblem(place, "reminders_refused", start);
    yield* put({ ...settings, nickname: "{game.username}!" }, 0, start + hourMs - 1);
    expectEqual((yield* status).problems.length, 1);
    yield* put(settings, 0, start + hourMs);
    expectEqual((yield* status).problems, []);
  },

  "the plan that is on for a guild is found, also of a suspended account": function* () {
    const keys = yield* KeyStore;
    const { account, global } = yield* makeScopes;
    const { place, put, store } = yield* roleSteps(global);
    yield* put(paused);
    const { guildId } = place;
    expectEqual(yield* store.findOn(guildId), Option.none());
    yield* put();
    yield* keys.updateAccount({ ...origin, name: account.name, update: { status: "suspended" }, at: 0 });
    expectEqual(Option.getOrUndefined(yield* store.findOn(guildId))?.scope.pid, global.pid);
  },

  "concurrent put of several accounts: exactly one turns its plan for a guild on": function* () {
    const guildId = uniqueGuildId();
    const racers = yield* Effect.forEach(Array.from({ length: 8 }), () =>
      Effect.flatMap(makeScopes, ({ global }) => roleSteps(global, guildId)),
    );
    for (const { put } of racers.slice(0, 4)) yield* put(paused);
    const stored = yield* Effect.forEach(racers, ({ put }) => put(), atOnce);
    expectEqual(stored.filter((refused) => refused === null).length, 1);
    expectEqual(stored.filter((refused) => refused === "guild_has_plan").length, 7);
    const found = yield* Effect.forEach(racers, ({ find }) => find);
    expectEqual(found.filter((plan) => plan?.state === "on").length, 1);
  },

  "of concurrent edits of the same settings, exactly one is stored": function* () {
    const { find, edit, put } = yield* newRoleSteps;
    const nicknames = Array.from({ length: 8 }, (_, i) => `{game.username} ${i}`);
    for (const edited of [noPlan, { ...paused, nickname: "{game.username} before" }]) {
      if (edited !== noPlan) yield* put(edited);
      const edits = nicknames.map((nickname) => edit(edited, { ...paused, nickname }));
      const outcomes = yield* Effect.all(edits, atOnce);
      const stored = nicknames.filter((_, i) => outcomes[i] === null);
      expectEqual(stored, [(yield* find)?.nickname ?? ""]);
      expectEqual(outcomes.filter((refused) => refused === "plan_changed").length, 7);
      for (const nickname of stored) expectEqual(yield* edit(edited, { ...paused, nickname }), null);
    }
  },

  "only the newest preview of a plan is stored, and a plan that is turned on confirms it": function* () {
    const { place, put } = yield* newRoleSteps;
    const previews = yield* PreviewStore;
    const found = Effect.map(previews.find(place), Option.getOrNull);
    const chatId = uniqueChatId();
    const changes = { chatId, add: ["1"], remove: [], nickname: "Ädä 🎮" };
    const empty = new PreviewTally(settings).counts;
    const previewOf = (id: string, state: PlanPreview["state"]): PlanPreview => {
      const examples = { linked: [changes], unlinked: [] };
      return {
        ...empty,
        id,
        settings: { ...settings, unlinked: "remove" },
        state,
        done: 1,
        total: 2,
        examples,
      };
    };
    const save = (id: string, state: PlanPreview["state"], at: number) =>
      previews.save({ ...place, preview: previewOf(id, state), at });
    expectEqual(yield* found, null);
    expectEqual(yield* save("1", "done", start), false);
    const begin = (id: string) => previews.start({ ...place, preview: previewOf(id, "running"), at: start });
    expectEqual([yield* begin("1"), yield* begin("2")], [null, "1"]);
    expectEqual(yield* save("1", "done", start), false);
    yield* put();
    expectEqual(yield* found, { preview: previewOf("2", "running"), savedAt: start, confirmed: null });
    expectEqual(yield* save("2", "done", start + 1), true);
    yield* put(paused);
    yield* put({ ...settings, nickname: null }, 0, start + 2);
    expectEqual((yield* found)?.confirmed ?? null, null);
    yield* put(settings, 0, start + 3);
    const confirmed = { ...Struct.pick(previewOf("2", "done"), ["settings", "roles"]), at: start + 3 };
    yield* put(settings, 0, start + 4);
    yield* previews.forget(start + 3 + previewTime - 1);
    expectEqual(yield* found, {
      preview: previewOf("2", "done"),
      savedAt: start + 3,
      confirmed: { ...confirmed, at: start + 4 },
    });
    yield* begin("3");
    expectEqual(yield* save("3", "done", start + 5), true);
    expectEqual(yield* found, {
      preview: previewOf("3", "done"),
      savedAt: start + 5,
      confirmed: { ...confirmed, at: start + 4 },
    });
    yield* eraseUser(chatId);
    expectEqual(yield* found, null);
    expectEqual(yield* save("3", "done", start + 2), false);
    yield* previews.start({ ...place, preview: previewOf("4", "done"), at: start });
    yield* eraseUser(uniqueChatId());
    yield* previews.forget(start + previewTime - 1);
    expectEqual((yield* found)?.preview.id ?? null, "4");
    yield* previews.forget(start + previewTime);
    expectEqual(yield* found, null);
  },

  "an erasure deletes the previews that name the user, and one that runs and may be about to": function* () {
    const previews = yield* PreviewStore;
    const { counts } = new PreviewTally(settings);
    const [named, other] = [uniqueChatId(), uniqueChatId()];
    const name = { chatId: named, before: null, after: "Ädä 🎮" };
    const previewOf = (state: PlanPreview["state"], names: PlanPreview["names"]): PlanPreview => ({
      ...counts,
      id: "1",
      settings,
      state,
      done: 1,
      total: 2,
      names,
    });
    const begin = Effect.fnUntraced(function* (...saved: ReadonlyArray<PlanPreview>) {
      const { place } = yield* newRoleSteps;
      yield* previews.start({ ...place, preview: previewOf("running", []), at: start });
      for (const preview of saved) yield* previews.save({ ...place, preview, at: start });
      return Effect.map(previews.find(place), Option.isSome);
    });
    const left = [
      yield* begin(previewOf("done", [name])),
      yield* begin(previewOf("running", [name]), previewOf("running", [])),
      yield* begin(previewOf("running", [name]), previewOf("done", [])),
      yield* begin(previewOf("done", [{ ...name, chatId: other }])),
    ];
    yield* eraseUser(named);
    expectEqual(yield* Effect.all(left), [false, false, true, true]);
    yield* eraseUser(other);
    expectEqual(yield* Effect.all(left), [false, false, true, false]);
  },

  "a plan is paused with its problem, and a change of the plan removes the problem": function* () {
    const { put, pauseFor, status } = yield* newRoleSteps;
    const problem: PlanProblem = { chatId: null, roleId: "1", reason: "many_would_lose", at: start };
    yield* put();
    yield* pauseFor("many_would_lose", [problem]);
    expectEqual((yield* status).problems, [listed(problem)]);
    yield* put();
    expectEqual((yield* status).problems, []);
  },

  "an account that nobody runs any more has its plans paused": function* () {
    const chatId = uniqueChatId();
    const name = uniqueText();
    const pid = uniquePid();
    const keys = yield* KeyStore;
    yield* keys.ensureAccount({ name, chatId, tier: "free" });
    yield* keys.ensureScope(name, { kind: "global" }, pid);
    const { put, find } = yield* roleSteps({ kind: "global", pid, account: name });
    const other = yield* newRoleSteps;
    yield* put();
    yield* other.put();
    yield* eraseUser(chatId);
    expectEqual((yield* find)?.state, "paused");
    expectEqual((yield* other.find)?.state, "on");
  },

  "a problem of the plan is kept once for each role, until a sweep that began later ends": function* () {
    const { putHeld, hold, settle, settleOne, startSweep, status } = yield* newRoleSteps;
    const node = yield* putHeld();
    const [one, other] = [uniqueChatId(), uniqueChatId()];
    const closed = problemOf(null, { roleId: "2", reason: "source_closed", at: start + 1 });
    const own = problemOf(one, { at: start + 1 });
    yield* settle(node, [
      settled(one, { problems: [own, gone(start + 1)] }),
      settled(other, { problems: [gone(start + 1)] }),
    ]);
    yield* settleOne(settled(other, { problems: [gone(start + 2), closed] }));
    expectEqual(
      (yield* status).problems,
      [gone(start + 2), own, closed].map((each) => listed(each)),
    );
    yield* settleOne(settled(other));
    expectEqual(
      (yield* status).problems,
      [gone(start + 2), own, closed].map((each) => listed(each)),
    );
    yield* startSweep(start + 5);
    const revision = (yield* hold(node))?.revision ?? 0;
    yield* settle(node, [], { revision, sweep: "ended", problems: [gone(start + 9)] });
    expectEqual((yield* status).problems, [listed(gone(start + 9))]);
  },

  "status has a problem for each cause and role with the number of members, the newest 50 of them":
    function* () {
      const { putHeld, settle, settleOne, status } = yield* newRoleSteps;
      const node = yield* putHeld();
      const chatIds = Array.from({ length: 60 }, uniqueChatId);
      const ofAll = chatIds.map((chatId, index) =>
        settled(chatId, { problems: [problemOf(chatId, { at: start + index })] }),
      );
      yield* settle(node, ofAll);
      const newest = chatIds.toReversed();
      const [last = uniqueChatId(), before = last] = newest;
      const shared = { ...problemOf(last, { at: start + 59 }), count: 60, chatIds: newest.slice(0, 20) };
      expectEqual((yield* status).problems, [shared]);
      const again = [
        problemOf(last, { roleId: null, reason: "member_above_bot", at: start + 99 }),
        problemOf(last, { roleId: "2", reason: "role_missing", at: start + 99 }),
      ];
      yield* settleOne(settled(last, { problems: again }));
      const rest = { ...problemOf(before, { at: start + 58 }), count: 59, chatIds: newest.slice(1, 21) };
      expectEqual((yield* status).problems, [...again.map((each) => listed(each)), rest]);
      const others = Array.from({ length: 55 }, (_, index) =>
        problemOf(last, { roleId: `${100 + index}`, at: start + 100 + index }),
      );
      yield* settleOne(settled(last, { problems: others }));
      expectEqual(
        (yield* status).problems,
        others
          .toReversed()
          .slice(0, 50)
          .map((each) => listed(each)),
      );
      yield* settleOne(settled(last));
      expectEqual((yield* status).problems, [rest]);
    },
};
