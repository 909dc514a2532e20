import { ChatId, type StoragePorts } from "@accountlink/core";
import { erasedLink, erasedNickname } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import { UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import { atOnce, eraseUser, newestOf, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import {
  listed,
  newRoleSteps,
  newSweep,
  noStatus,
  problemOf,
  settings,
  settled,
  start,
} from "./role_steps.ts";

const kept = (chatId: string, nickname: string | null, at = start) => ({
  chatId: ChatId.make(chatId),
  nickname,
  at,
});

/** A nickname that a plan is about to set in place of the member's own. */
const started = (chatId: string, nickname: string | null, at = start) => ({
  chatId: ChatId.make(chatId),
  nickname: "given",
  replaced: { nickname },
  at,
});

export const members: Cases<StoragePorts> = {
  "exactly one of several nodes holds a plan": function* () {
    const { put, hold } = yield* newRoleSteps;
    yield* put();
    const nodes = Array.from({ length: 5 }, uniqueText);
    const held = yield* Effect.forEach(nodes, (node) => hold(node), atOnce);
    expectEqual(held.filter((plan) => plan !== null).length, 1);
  },

  "a lease from a clock that was ahead lasts until its node renews it no more": function* () {
    const { store, put, hold } = yield* newRoleSteps;
    const [minute, hour] = [60_000, 3_600_000];
    yield* put();
    const [prefix, other] = [uniqueText(), uniqueText()];
    const node = `${prefix}a`;
    const holdOther = (at: number) => hold(other, start + at);
    yield* hold(node, start + hour);
    yield* hold(node);
    expectEqual(yield* store.firstNode(prefix, start + 7_000), Option.none());
    yield* hold(node, start + hour);
    expectEqual(yield* holdOther(0), null);
    yield* hold(node, start + hour + 2 * minute);
    expectEqual(yield* holdOther(2 * minute), null);
    const end = 4 * minute;
    expectEqual(yield* holdOther(end - 1), null);
    expectEqual(yield* store.firstNode(prefix, start + end - 1), Option.some(node));
    yield* holdOther(end);
    expectThat((yield* holdOther(end + 1)) !== null, "Another node takes the plan");
    expectEqual(yield* store.firstNode(prefix, start + end + 1), Option.none());
    expectEqual(yield* hold(node, start + end + 2), null);
    expectEqual(yield* store.firstNode(prefix, start + end + 2), Option.some(node));
  },

  "hold takes at most its limit of new plans per call": function* () {
    const { store, put } = yield* newRoleSteps;
    yield* put();
    for (let count = 0; count < 2; count++) yield* (yield* newRoleSteps).put();
    const node = uniqueText();
    const hold = store.hold({ node, at: start, until: start + 7_000, limit: 2 });
    expectEqual((yield* hold).length, 2);
    expectThat((yield* hold).length > 2, "another call takes more");
  },

  "firstNode returns the first live node with a prefix, although it holds no plan": function* () {
    const { store } = yield* newRoleSteps;
    const prefix = uniqueText();
    const hold = (id: string, until: number) => store.hold({ node: prefix + id, at: start, until, limit: 0 });
    expectEqual(yield* store.firstNode(prefix, start), Option.none());
    yield* hold("b", start + 7_000);
    yield* hold("a", start + 3_000);
    expectEqual(yield* store.firstNode(prefix, start + 2_999), Option.some(`${prefix}a`));
    expectEqual(yield* store.firstNode(prefix, start + 3_000), Option.some(`${prefix}b`));
    yield* hold("b", start);
    expectEqual(yield* store.firstNode(prefix, start + 3_000), Option.none());
  },

  "settle ends the wait of a member, or delays it until the next attempt": function* () {
    const { putHeld, mark, settle, due, nicknames, status } = yield* newRoleSteps;
    const node = yield* putHeld();
    const [right, failed] = [uniqueChatId(), uniqueChatId()];
    yield* mark(node, [right, failed]);
    const results = [
      settled(right, { mark: 1, nickname: "Ädä 🎮" }),
      settled(failed, { mark: 1, retryAt: start + 5_000 }),
    ];
    expectEqual(yield* settle(uniqueText(), results), false);
    expectEqual(yield* settle(node, results, { at: start + 1 }), true);
    expectEqual(yield* due(start + 4_999), []);
    expectEqual(yield* due(start + 5_000), [{ chatId: failed, mark: 1, since: start, nickname: null }]);
    expectEqual(yield* nicknames(right, failed), new Map([[right, "Ädä 🎮"]]));
    expectEqual((yield* status).pending, 1);
    yield* mark(node, [right], { at: start + 2 });
    const [waiting] = yield* due(start + 2);
    expectEqual(waiting, { chatId: right, mark: 2, since: start + 2, nickname: "Ädä 🎮" });
    yield* settle(node, [settled(right, { mark: 2 })]);
    expectEqual(yield* nicknames(right), new Map());
  },

  "what a plan changed is counted by day, the last seven days of it": function* () {
    const { putHeld, place, store, settle, settleOne } = yield* newRoleSteps;
    const node = yield* putHeld();
    const one = settled(uniqueChatId());
    const made = { rolesGiven: 2, rolesTaken: 1, nicknamesSet: 1 };
    expectEqual(yield* store.changedDays(place), []);
    yield* settle(node, [one], { changes: made });
    yield* settle(uniqueText(), [one], { changes: made });
    yield* settle(node, [one], { changes: { rolesGiven: 0, rolesTaken: 0, nicknamesSet: 0 } });
    yield* settleOne(one, start, { rolesGiven: 1, rolesTaken: 0, nicknamesSet: 0 });
    const day = Math.floor(start / dayMs);
    const first = { day, ...made, rolesGiven: 3 };
    expectEqual(yield* store.changedDays(place), [first]);
    yield* settle(node, [], { at: start + 6 * dayMs, changes: made });
    expectEqual(yield* store.changedDays(place), [first, { day: day + 6, ...made }]);
    yield* settle(node, [], { at: start + 7 * dayMs, changes: made });
    expectEqual(yield* store.changedDays(place), [
      { day: day + 6, ...made },
      { day: day + 7, ...made },
    ]);
  },

  "nicknames are to be put back once, until that has ended": function* () {
    const { put, place, scope, store, remove } = yield* newRoleSteps;
    const write = { ...origin, ...place, at: start };
    const isPuttingBack = Effect.map(store.puttingBack(), (all) =>
      all.some(({ guildId }) => guildId === place.guildId),
    );
    expectEqual(yield* store.putNicknamesBack(write), false);
    yield* put();
    for (const chatId of [uniqueChatId(), uniqueChatId()]) {
      yield* store.startNickname(place, started(chatId, "Ädä 🎮"));
    }
    expectEqual([yield* store.countNicknames(place), yield* isPuttingBack], [2, false]);
    expectEqual([yield* store.putNicknamesBack(write), yield* store.putNicknamesBack(write)], [true, false]);
    expectEqual(yield* isPuttingBack, true);
    const entries = yield* newestOf(scope.account, "nicknames.put_back");
    expectEqual(pluck(entries, "details"), [{ guildId: place.guildId, count: 2 }]);
    yield* store.endPuttingBack(place);
    expectEqual(yield* isPuttingBack, false);
    yield* store.putNicknamesBack(write);
    yield* remove;
    yield* put();
    expectEqual(yield* isPuttingBack, false);
  },

  "concurrent marks of several nodes: only marks of the holder are stored": function* () {
    const { putHeld, mark, due } = yield* newRoleSteps;
    const node = yield* putHeld();
    const chatIds = Array.from({ length: 20 }, uniqueChatId);
    yield* Effect.forEach(chatIds, (chatId) => mark(node, [chatId]), atOnce);
    yield* Effect.forEach(chatIds, (chatId) => mark(uniqueText(), [chatId, uniqueChatId()]), atOnce);
    expectEqual(new Set((yield* due()).map(({ chatId }) => chatId)), new Set(chatIds));
  },

  "a sweep continues where it stopped, and its end deletes older problems": function* () {
    const { putHeld, hold, settle, startSweep, status } = yield* newRoleSteps;
    const node = yield* putHeld();
    const [one, other] = [uniqueChatId(), uniqueChatId()];
    yield* settle(node, [settled(one, { problems: [problemOf(one, { at: start })] })]);
    yield* startSweep(start + 10);
    const sweep = { after: other, done: 1_000, total: 1_500 };
    const problems = [problemOf(other, { at: start + 11 })];
    const revision = (yield* hold(node))?.revision ?? 0;
    yield* settle(node, [settled(other, { problems })], { revision, sweep });
    expectEqual((yield* hold(uniqueText(), start + 7_000))?.sweep ?? null, sweep);
    yield* hold(node, start + 20_000);
    expectEqual(yield* settle(node, [], { revision, sweep: "ended", at: start + 20 }), true);
    expectEqual(yield* status, {
      ...noStatus,
      sweptAt: start + 20,
      problems: problems.map((each) => listed(each)),
    });
  },

  "the progress of an earlier sweep does not overwrite a new one": function* () {
    const { put, putHeld, hold, mark, settle, startSweep, status } = yield* newRoleSteps;
    const node = yield* putHeld();
    const chatId = uniqueChatId();
    const starts = [startSweep(), put({ ...settings, nickname: null }), mark(node, [], { sweepOf: 0 })];
    for (const begin of starts) {
      const revision = (yield* hold(node))?.revision ?? 0;
      yield* begin;
      const sweep = { after: chatId, done: 1, total: 2 };
      for (const progress of [sweep, "ended"] as const) {
        const results = [settled(chatId, { problems: [problemOf(chatId)] })];
        expectEqual(yield* settle(node, results, { revision, sweep: progress }), true);
        expectEqual(yield* status, { ...noStatus, sweep: newSweep, problems: [listed(problemOf(chatId))] });
      }
    }
  },

  "erasing a user forgets the user's nicknames and problems, but not a waiting change of roles":
    function* () {
      const users = yield* UserStore;
      const [one, other] = [yield* newRoleSteps, yield* newRoleSteps];
      const [chatId, bystander] = [uniqueChatId(), uniqueChatId()];
      const problems = [problemOf(chatId)];
      for (const { putHeld, settleOne, mark, store, place } of [one, other]) {
        const node = yield* putHeld();
        yield* store.startNickname(place, started(chatId, "Ms. Ada"));
        yield* settleOne(settled(chatId, { nickname: "ada", problems }));
        yield* settleOne(settled(bystander, { nickname: "bob", problems: [problemOf(bystander)] }));
        yield* mark(node, [chatId]);
      }
      const stored = [one, other].map(({ place }) => ({
        ...place,
        nickname: "ada",
        replacedNickname: "Ms. Ada",
        problems,
      }));
      const { roles } = yield* users.find(chatId);
      expectEqual(
        roles,
        stored.toSorted((a, b) => (a.pid < b.pid ? -1 : 1)),
      );
      yield* eraseUser(chatId);
      expectEqual((yield* users.find(chatId)).roles, []);
      for (const { nicknames, due, status, store, place } of [one, other]) {
        expectEqual(yield* store.keptNicknames(place, null, 10), []);
        const left = [
          [chatId, erasedNickname],
          [bystander, "bob"],
        ] as const;
        expectEqual(yield* nicknames(chatId, bystander), new Map(left));
        expectEqual(yield* due(), [{ chatId, mark: 2, since: start, nickname: erasedNickname }]);
        expectEqual((yield* status).problems, [listed(problemOf(bystander))]);
      }
    },

  "a marked member who was erased keeps the mark of it until the change of roles is stored": function* () {
    const users = yield* UserStore;
    const { putHeld, mark, due, nicknames, settle, settleOne } = yield* newRoleSteps;
    const [erased, named, other] = [uniqueChatId(), uniqueChatId(), uniqueChatId()];
    const node = yield* putHeld();
    yield* settleOne(settled(named, { nickname: "ada" }));
    yield* mark(node, [erased, named, other], { erased: [erased, named] });
    const stored = [
      [erased, erasedLink],
      [named, "ada"],
    ] as const;
    expectEqual(yield* nicknames(erased, named, other), new Map(stored));
    expectEqual((yield* users.find(erased)).roles, []);
    yield* eraseUser(erased);
    const waiting = (yield* due()).find(({ chatId }) => chatId === erased);
    expectEqual(waiting, { chatId: erased, mark: 1, since: start, nickname: erasedLink });
    yield* settle(node, [settled(erased, { mark: 1 })]);
    expectEqual(yield* nicknames(erased), new Map());
  },

  "a nickname is stored before it is set, and the replaced one once, until it is dropped or old":
    function* () {
      const { putHeld, settle, settleOne, nicknames, remove, store, place } = yield* newRoleSteps;
      const [one = "", two = "", three = ""] = [uniqueChatId(), uniqueChatId(), uniqueChatId()].toSorted();
      const all = store.keptNicknames(place, null, 10);
      expectEqual(yield* store.startNickname(place, started(one, "unknown plan")), null);
      expectEqual(yield* all, []);
      const node = yield* putHeld();
      expectEqual(yield* store.startNickname(place, started(one, "Ädä 🎮")), { earlier: null });
      expectEqual(yield* store.startNickname(place, started(one, "later", start + 1)), null);
      yield* store.startNickname(place, started(two, null, start + 2));
      expectEqual(
        yield* store.startNickname(place, { ...started(two, null, start + 3), replaced: null }),
        null,
      );
      yield* settle(node, [settled(ChatId.make(one), { nickname: "ada" }), settled(ChatId.make(three))]);
      yield* store.startNickname(place, started(three, "Eve"));
      yield* settleOne(settled(ChatId.make(three)));
      const [first, second, third] = [kept(one, "Ädä 🎮"), kept(two, null, start + 2), kept(three, "Eve")];
      expectEqual(yield* all, [first, second, third]);
      expectEqual(yield* store.keptNicknames(place, first.chatId, 1), [second]);
      yield* store.dropNickname(place, third.chatId);
      yield* store.forgetNicknames(start + 2);
      expectEqual(yield* all, [second]);
      const set = [
        [first.chatId, "ada"],
        [second.chatId, "given"],
      ] as const;
      expectEqual(yield* nicknames(first.chatId, second.chatId), new Map(set));
      yield* remove;
      expectEqual(yield* all, []);
    },

  "a nickname that the platform refuses keeps the one from before its time": function* () {
    const { putHeld, settleOne, store, place } = yield* newRoleSteps;
    const chatId = uniqueChatId();
    yield* putHeld();
    yield* store.startNickname(place, started(chatId, "Ada"));
    yield* settleOne(settled(chatId, { nickname: null }));
    const newer = yield* store.startNickname(place, started(chatId, "Ms. Ada", start + 1));
    expectEqual(newer, { earlier: kept(chatId, "Ada") });
    expectEqual(yield* store.keptNickname(place, chatId), kept(chatId, "Ms. Ada", start + 1));
    yield* store.dropNickname(place, chatId, newer?.earlier);
    expectEqual(yield* store.keptNickname(place, chatId), kept(chatId, "Ada"));
  },

  "erasing a user deletes the nickname of a paused plan": function* () {
    const { putHeld, pause, settleOne, nicknames } = yield* newRoleSteps;
    const chatId = uniqueChatId();
    yield* putHeld();
    yield* settleOne(settled(chatId, { nickname: "ada" }));
    yield* pause;
    yield* eraseUser(chatId);
    expectEqual(yield* nicknames(chatId), new Map());
  },
};
