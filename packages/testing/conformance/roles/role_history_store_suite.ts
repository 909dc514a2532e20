import { ChatId, type StoragePorts } from "@accountlink/core";
import {
  type ChangeReason,
  type RoleChange,
  RoleHistoryStore,
  roleChangeTime,
} from "@accountlink/core/roles";
import { Effect } from "effect";
import { uniqueChatId } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { atOnce, makeScopes, newestOf, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { start, uniqueGuildId } from "./role_steps.ts";

interface BeginOptions {
  readonly at?: number;
  readonly roleId?: string;
  readonly because?: ChangeReason;
}

const newHistory = Effect.gen(function* () {
  const history = yield* RoleHistoryStore;
  const scope = (yield* makeScopes).global;
  const place = { pid: scope.pid, guildId: uniqueGuildId() };
  const begin = (
    chatId: string,
    change: RoleChange["change"],
    { at = start, roleId = "1", because = "sweep" }: BeginOptions = {},
  ) =>
    history.begin({
      ...place,
      chatId: ChatId.make(chatId),
      changes: [{ roleId, change }],
      because,
      at,
    });
  const make = (...change: Parameters<typeof begin>) =>
    Effect.tap(begin(...change), (begun) =>
      history.end(begun.map((each) => ({ change: each, isMade: true }))),
    );
  const page = Effect.map(history.page(place, null, 100), (found) =>
    found.map(({ chatId, change, last }) => [chatId, change, last]),
  );
  return { history, scope, place, begin, make, page };
});

export const roleHistoryCases: Cases<StoragePorts> = {
  "the change before lasts until a later one of the member's role was made": function* () {
    const { history, place, begin, make, page } = yield* newHistory;
    const user = uniqueChatId();
    yield* make(user, "gave");
    expectEqual(yield* history.givenTo(place, user), new Set(["1"]));
    const taking = yield* begin(user, "took");
    // A node that dies now may have made the change or not.
    expectEqual(yield* page, [
      [user, "took", "took"],
      [user, "gave", "gave"],
    ]);
    yield* history.end(taking.map((change) => ({ change, isMade: false })));
    expectEqual(yield* page, [[user, "gave", "gave"]]);
    yield* begin(user, "took");
    yield* make(user, "gave");
    expectEqual(yield* page, [
      [user, "gave", "gave"],
      [user, "took", null],
      [user, "gave", null],
    ]);
  },

  "a change that was tried before without an answer is stored once": function* () {
    const { begin, make, page } = yield* newHistory;
    const user = uniqueChatId();
    yield* begin(user, "took");
    yield* make(user, "took");
    expectEqual(yield* page, [[user, "took", "took"]]);
    yield* make(user, "took");
    expectEqual(yield* page, [
      [user, "took", "took"],
      [user, "took", null],
    ]);
  },

  "a role that is given back counts as given only if the rules gave it before, however long ago":
    function* () {
      const { history, place, begin, make, page } = yield* newHistory;
      const [byHand, byRules] = [uniqueChatId(), uniqueChatId()];
      const because = "put_back";
      yield* make(byRules, "gave", { at: start - 2 * roleChangeTime });
      for (const user of [byHand, byRules]) yield* make(user, "took");
      yield* history.forget(start);
      yield* begin(byHand, "gave", { because });
      for (const user of [byHand, byRules]) yield* make(user, "gave", { because });
      const given = yield* Effect.forEach([byHand, byRules], (user) => history.givenTo(place, user));
      expectEqual(given, [new Set<string>(), new Set(["1"])]);
      expectEqual(yield* history.countByRole(place, "gave", 0), [{ roleId: "1", count: 1 }]);
      expectEqual(yield* history.countByRole(place, "took", 0), []);
      // Given back twice, it is the member's own as before.
      yield* make(byHand, "took");
      yield* make(byHand, "gave", { because });
      expectEqual(yield* history.givenTo(place, byHand), new Set());
      yield* history.forget(start + roleChangeTime);
      expectEqual(yield* page, [[byRules, "gave", "gave"]]);
    },

  "pages go on before a number": function* () {
    const { history, place, make } = yield* newHistory;
    for (let at = 0; at < 5; at++) yield* make(uniqueChatId(), "gave", { at: start + at });
    const first = yield* history.page(place, null, 3);
    const rest = yield* history.page(place, first.at(-1)?.number ?? null, 3);
    expectEqual(
      pluck([...first, ...rest], "at"),
      [4, 3, 2, 1, 0].map((at) => start + at),
    );
  },

  "changes since a time are counted and reversed in their order, until each is reversed": function* () {
    const { history, scope, place, make } = yield* newHistory;
    const users = [uniqueChatId(), uniqueChatId(), uniqueChatId()];
    for (const [index, user] of users.entries()) yield* make(user, "took", { at: start + index });
    yield* make(uniqueChatId(), "took", { at: start + 9, roleId: "2" });
    const taken = { roleId: "1", change: "took" } as const;
    expectEqual(yield* history.count(place, taken, start), 3);
    expectEqual(yield* history.count(place, taken, start + 1), 2);
    expectEqual(yield* history.countByRole(place, "took", start + 2), [
      { roleId: "1", count: 1 },
      { roleId: "2", count: 1 },
    ]);
    expectEqual(yield* history.countByRole(place, "took", start + 3), [{ roleId: "2", count: 1 }]);
    const write = { ...origin, ...place, change: "took", roleIds: ["1"], at: start, count: 2 } as const;
    yield* history.reverse({ ...write, since: start + 1 });
    const [reversal] = yield* history.reversals(place);
    if (reversal === undefined) return expectEqual("no reversal", "a reversal");
    expectEqual(
      (yield* history.reversals(null)).filter(({ pid }) => pid === place.pid),
      [reversal],
    );
    const found = yield* history.toReverse(reversal, 10);
    expectEqual(pluck(found, "chatId"), users.slice(1));
    for (const change of found.slice(0, 1)) yield* history.close(change);
    expectEqual(pluck(yield* history.toReverse(reversal, 10), "chatId"), users.slice(2));
    const entries = yield* newestOf(scope.account, "roles.put_back");
    expectEqual(pluck(entries, "details"), [{ guildId: place.guildId, count: 2 }]);

    const after = { ...reversal, number: 7 };
    expectEqual(yield* history.progress(reversal, after), true);
    // Begun again from an earlier time, which the node that works on it finds out.
    yield* history.reverse({ ...write, since: start });
    expectEqual(yield* history.progress(after, { ...after, number: 8 }), false);
    yield* history.stop(after);
    const [again] = yield* history.reversals(place);
    expectEqual([again?.at, again?.number], [start, 0]);
    if (again !== undefined) yield* history.stop(again);
    expectEqual(yield* history.reversals(place), []);
  },

  "a change of the plan ends the reversals that take other roles, and giving roles back those that take them":
    function* () {
      const { history, scope, place } = yield* newHistory;
      const reverse = (change: RoleChange["change"], ...roleIds: ReadonlyArray<string>) =>
        history.reverse({ ...origin, ...place, change, roleIds, since: 0, at: start, count: 1 });
      const running = Effect.map(history.reversals(place), (found) =>
        found.map(({ roleId, change }) => `${change} ${roleId}`),
      );
      yield* reverse("gave", "1", "2", "3");
      yield* reverse("took", "1", "4");
      expectEqual(yield* running, ["took 1", "gave 2", "gave 3", "took 4"]);
      yield* reverse("gave", "3", "5");
      expectEqual(yield* running, ["took 1", "gave 3", "took 4", "gave 5"]);
      yield* reverse("gave");
      expectEqual(yield* running, ["took 1", "took 4"]);
      expectEqual(pluck(yield* newestOf(scope.account, "roles.updated"), "details"), [
        { guildId: place.guildId, taken: "3, 5" },
        { guildId: place.guildId, taken: "1, 2, 3" },
      ]);
    },

  "all roles of a guild are given back, with one entry": function* () {
    const { history, scope, place } = yield* newHistory;
    const roleIds = Array.from({ length: 250 }, (_, index) => String(1_000 + index));
    yield* history.reverse({ ...origin, ...place, change: "took", roleIds, since: 0, at: start, count: 250 });
    expectEqual(pluck(yield* history.reversals(place), "roleId"), roleIds);
    const entries = yield* newestOf(scope.account, "roles.put_back");
    expectEqual(pluck(entries, "details"), [{ guildId: place.guildId, count: 250 }]);
  },

  "concurrent changes of a community get numbers of their own": function* () {
    const { history, place, make } = yield* newHistory;
    yield* Effect.forEach(
      Array.from({ length: 8 }, () => uniqueChatId()),
      (user) => make(user, "took"),
      atOnce,
    );
    expectEqual(pluck(yield* history.page(place, null, 10), "number"), [8, 7, 6, 5, 4, 3, 2, 1]);
  },

  "forget deletes changes after 30 days, and keeps what a member still has by the rules": function* () {
    const { history, place, make } = yield* newHistory;
    const user = uniqueChatId();
    const early = { at: -roleChangeTime - 9_000 };
    yield* make(uniqueChatId(), "took", early);
    yield* make(user, "gave", early);
    yield* make(uniqueChatId(), "took", { at: -roleChangeTime - 8_000 });
    yield* history.forget(-8_001);
    expectEqual(pluck(yield* history.page(place, null, 10), "change"), ["took", "gave"]);
    yield* make(user, "took", { at: 0 });
    yield* history.forget(-8_001);
    // The change that the member's role goes back to stays as long as the one that took it.
    expectEqual(pluck(yield* history.page(place, null, 10), "change"), ["took", "took", "gave"]);
    yield* history.forget(roleChangeTime);
    expectEqual(yield* history.page(place, null, 10), []);
  },
};
