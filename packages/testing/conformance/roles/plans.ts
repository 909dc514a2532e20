import type { StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { noPlan, RolePlanStore, type RoleRule } from "@accountlink/core/roles";
import { Effect } from "effect";
import { uniqueChatId, uniquePid, uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual, expectThat } from "../expect.ts";
import { atOnce, eraseUser, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import {
  newRoleSteps,
  newSweep,
  noStatus,
  paused,
  problemOf,
  roleSteps,
  settings,
  settled,
  uniqueGuildId,
} from "./role_steps.ts";

export const plans: Cases<StoragePorts> = {
  "put stores the plan unchanged, and starts a sweep if the plan is on": function* () {
    const { scope, guildId, put, find, status } = yield* newRoleSteps;
    expectEqual(yield* find, null);
    expectEqual(yield* status, noStatus);
    expectEqual(yield* put(paused), true);
    expectEqual(yield* find, { ...paused, scope, guildId });
    expectEqual(yield* status, noStatus);
    expectEqual(yield* put(), true);
    expectEqual(yield* find, { ...settings, scope, guildId });
    expectEqual(yield* status, { ...noStatus, sweep: newSweep });
    yield* put(paused);
    expectEqual(yield* status, noStatus);
  },

  "list returns only the plans of its scope, sorted by guild": function* () {
    const { global, guild } = yield* makeScopes;
    const guildIds = [uniqueGuildId(), uniqueGuildId()].toSorted();
    for (const guildId of guildIds.toReversed()) yield* (yield* roleSteps(global, guildId)).put();
    yield* (yield* roleSteps(guild)).put();
    const listed = yield* RolePlanStore.use((store) => store.list(global.pid));
    expectEqual(
      listed,
      guildIds.map((guildId) => ({ ...settings, scope: global, guildId })),
    );
  },

  "each change logs an entry with the changed fields, and a call without a change logs none": function* () {
    const { guildId, put, pause, remove, entries } = yield* newRoleSteps;
    yield* put(noPlan);
    expectEqual(yield* remove, false);
    yield* put(paused);
    yield* put(paused);
    yield* put();
    const rules: ReadonlyArray<RoleRule> = [{ roleId: "3", when: { is: "unlinked" } }];
    yield* put({ ...noPlan, rules, state: "on" });
    expectEqual(yield* pause, true);
    expectEqual(yield* pause, false);
    expectEqual(yield* remove, true);
    expectEqual(yield* remove, false);
    expectEqual(yield* pause, false);
    expectEqual(yield* entries, [
      [
        "roles.updated",
        { guildId, state: "paused", changed: "rules, nickname, nicknameGroupId, bypassRoleId" },
      ],
      ["roles.updated", { guildId, state: "on", changed: "state" }],
      ["roles.updated", { guildId, state: "on", changed: "rules, nickname, nicknameGroupId, bypassRoleId" }],
      ["roles.updated", { guildId, state: "paused", changed: "state" }],
      ["roles.deleted", { guildId, state: "paused" }],
    ]);
  },

  "only one plan of a guild can be on": function* () {
    const first = yield* newRoleSteps;
    const { global } = yield* makeScopes;
    const second = yield* roleSteps(global, first.guildId);
    expectEqual(yield* first.put(), true);
    expectEqual(yield* second.put(), false);
    expectEqual([yield* second.find, yield* second.entries], [null, []]);
    expectEqual(yield* second.put(paused), true);
    expectEqual(yield* second.put(), false);
    expectEqual((yield* second.find)?.state, "paused");
    yield* first.pause;
    expectEqual(yield* second.put(), true);
    expectEqual(yield* first.put(), false);
    yield* second.remove;
    expectEqual(yield* first.put(), true);
  },

  "concurrent put of several accounts: exactly one turns its plan for a guild on": function* () {
    const guildId = uniqueGuildId();
    const racers = yield* Effect.forEach(Array.from({ length: 8 }), () =>
      Effect.flatMap(makeScopes, ({ global }) => roleSteps(global, guildId)),
    );
    for (const { put } of racers.slice(0, 4)) yield* put(paused);
    const stored = yield* Effect.forEach(racers, ({ put }) => put(), atOnce);
    expectEqual(stored.filter((isStored) => isStored).length, 1);
    const found = yield* Effect.forEach(racers, ({ find }) => find);
    expectEqual(found.filter((plan) => plan?.state === "on").length, 1);
  },

  "remove deletes the plan with its progress": function* () {
    const { putHeld, put, mark, settleOne, remove, find, status, due } = yield* newRoleSteps;
    const node = yield* putHeld();
    const chatId = uniqueChatId();
    yield* mark(node, [chatId]);
    yield* settleOne(settled(chatId, { nickname: "ada", problems: [problemOf(chatId)] }));
    expectEqual(yield* remove, true);
    expectEqual([yield* find, yield* due()], [null, []]);
    expectEqual(yield* status, noStatus);
    expectEqual(yield* mark(node, [chatId]), false);
    yield* settleOne(settled(chatId, { nickname: "ada" }));
    yield* put(paused);
    expectEqual(yield* status, noStatus);
  },

  "startSweep starts a sweep of a plan that is on": function* () {
    const { put, startSweep, status } = yield* newRoleSteps;
    expectEqual(yield* startSweep(), false);
    yield* put(paused);
    expectEqual(yield* startSweep(), false);
    yield* put();
    expectEqual(yield* startSweep(), true);
    expectEqual((yield* status).sweep, newSweep);
  },

  "a plan that was on keeps its position; a resumed plan continues at the end of the feed": function* () {
    const { put, hold } = yield* newRoleSteps;
    yield* put(settings, 10);
    const node = uniqueText();
    const positionOf = Effect.map(hold(node), (held) => held?.position);
    expectEqual(yield* positionOf, 10);
    yield* put({ ...settings, nickname: null }, 20);
    expectEqual(yield* positionOf, 10);
    yield* put(paused, 30);
    yield* put(settings, 40);
    expectEqual(yield* positionOf, 40);
  },

  "erasing the owner of an account deletes its plans": function* () {
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
    expectEqual(yield* find, null);
    expectThat((yield* other.find) !== null, "plans of other accounts stay");
  },

  "put with unstorable text or an unknown scope is a defect": function* () {
    const { put } = yield* newRoleSteps;
    for (const nickname of unstorableTexts) yield* expectDefect(put({ ...settings, nickname }));
    const unknown = yield* roleSteps({ kind: "global", pid: uniquePid(), account: uniqueText() });
    yield* expectDefect(unknown.put());
    yield* expectDefect(unknown.put({ ...settings, state: "paused" }));
  },
};
