import { expect, test } from "@accountlink/test-servers/effect";
import { aFixture, aGuild, aMember, check, MemoryWorld } from "@accountlink/testing";
import { Effect, Scheduler } from "effect";
import * as FastCheck from "fast-check";
import type { ChatId, GuildId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { LinkStore } from "../links/link_store.ts";
import { ReminderStore } from "../reminders/reminder_store.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { MemberPlace } from "./member_lists.ts";
import { UnlinkedMembers } from "./unlinked_members.ts";

const guildId = "70001" as GuildId;
const manager = "200099";
const { array, boolean, constantFrom, integer, record } = FastCheck;

/** Few times, so that several members joined at once. */
const joined = constantFrom(
  null,
  "2024-01-01T00:00:00.000Z",
  "2024-01-01T00:00:00.001Z",
  "2025-01-01T00:00:00.000Z",
);

const cases = record({
  members: array(record({ joined, isLinked: boolean(), isPending: boolean() }), { maxLength: 9 }),
  order: constantFrom("newest" as const, "oldest" as const),
  search: constantFrom("", "USER_", "user_100003", "100002", "ser_"),
  limit: integer({ min: 1, max: 4 }),
  before: constantFrom("2024-01-01T00:00:00.001Z", "2025-01-01T00:00:00.001Z"),
});

type Case = typeof cases extends FastCheck.Arbitrary<infer A> ? A : never;

type Member = Omit<Case["members"][number], "joined"> & { readonly joined: string | null };

const worldOf = (members: ReadonlyArray<Member>) => {
  const all = members.map((member, index) => ({ ...member, chatId: String(100_001 + index) }));
  const linked = all.filter(({ isLinked }) => isLinked);
  const fixture = aFixture({
    accounts: [{ name: "acme", chatId: manager }],
    links: linked.map(({ chatId }) => ({ chatId, gameId: "1" })),
    platform: {
      guilds: [
        aGuild(guildId, [
          aMember(manager, { manager: true, joined: "2026-01-01T00:00:00.000Z" }),
          ...all.map((each) => aMember(each.chatId, { joined: each.joined, pending: each.isPending })),
        ]),
      ],
      chatUsers: all.map(({ chatId }) => ({ id: chatId, username: `user_${chatId}` })),
    },
  });
  return { all, fixture };
};

const timeOf = (time: string | null) => (time === null ? 0 : Date.parse(time));

test("pages of who has not linked have each such member once, in order of joining, and say how many of how many", function* () {
  const property = ({ members, order, search, limit, before }: Case) => {
    const { all, fixture } = worldOf(members);
    const here = all.filter(({ isPending }) => !isPending);
    const open = here.filter(({ isLinked }) => !isLinked);
    const newest = open
      .toSorted((one, other) => timeOf(other.joined) - timeOf(one.joined))
      .map(({ chatId }) => chatId);
    const ordered = order === "newest" ? [manager, ...newest] : [...newest.toReversed(), manager];
    const isMeant = (chatId: string) =>
      search === "" ||
      chatId === search ||
      (chatId !== manager && `user_${chatId}`.startsWith(search.toLowerCase()));
    return Effect.gen(function* () {
      const scope = yield* (yield* KeyStore).ensureScope(
        "acme",
        { kind: "global" },
        "pid_0123456789abcdef" as Pid,
      );
      const unlinked = yield* UnlinkedMembers;
      const found: Array<string> = [];
      let place: MemberPlace | null = null;
      do {
        const page: Effect.Success<ReturnType<typeof unlinked.page>> = yield* unlinked.page(
          scope,
          guildId,
          search,
          place,
          limit,
          order,
        );
        found.push(...page.members.map(({ chatId }) => chatId));
        expect([page.linked, page.total]).toEqual([here.length - open.length, here.length + 1]);
        place = page.next;
      } while (place !== null);
      expect(found).toEqual(ordered.filter(isMeant));
      const waiting = yield* unlinked.toRemind(scope, guildId, Date.parse(before));
      const isEarly = ({ joined: at }: Member) => at !== null && at < before;
      expect(new Set(waiting)).toEqual(new Set(open.filter(isEarly).map(({ chatId }) => chatId)));
    }).pipe(Effect.provide(MemoryWorld.layer(fixture), { local: true }), Effect.scoped);
  };
  yield* check(cases, property, { runs: 40 });
});

test("a member is to remind once, from when the link was removed on, not from joining on", function* () {
  const before = Date.parse("2025-01-01T00:00:00.000Z");
  const { all, fixture } = worldOf([
    { joined: "2024-01-01T00:00:00.000Z", isLinked: true, isPending: false },
  ]);
  const chatId = all[0]?.chatId as ChatId;
  yield* Effect.gen(function* () {
    const scope = yield* (yield* KeyStore).ensureScope(
      "acme",
      { kind: "global" },
      "pid_0123456789abcdef" as Pid,
    );
    const actor = { type: "operator", id: "ada" } as const;
    const { pid } = scope;
    yield* (yield* LinkStore).removeGame({ actor, requestId: null, pid, chatId, at: before });
    const { toRemind } = yield* UnlinkedMembers;
    const found = Effect.forEach([before, before + 1], (time) => toRemind(scope, guildId, time));
    expect(yield* found).toEqual([[], [chatId]]);
    const hash = yield* (yield* Secrets).reminderHash(guildId, chatId);
    yield* (yield* ReminderStore).claim({ pid, guildId, hash, at: before });
    expect(yield* found).toEqual([[], []]);
  }).pipe(Effect.provide(MemoryWorld.layer(fixture), { local: true }), Effect.scoped);
});

/** Returns how often other fibers may have their turns while an effect runs. */
const turnsDuring = Effect.fnUntraced(function* (effect: Effect.Effect<unknown, unknown>) {
  let turns = 0;
  class CountingScheduler extends Scheduler.MixedScheduler {
    override makeDispatcher() {
      const dispatcher = super.makeDispatcher();
      const scheduleTask = dispatcher.scheduleTask.bind(dispatcher);
      dispatcher.scheduleTask = (task, priority) => {
        turns++;
        scheduleTask(task, priority);
      };
      return dispatcher;
    }
  }
  yield* Effect.provideService(effect, Scheduler.Scheduler, new CountingScheduler());
  return turns;
});

test("thousands of members are sorted and searched in steps, between which others have their turns", function* () {
  const count = 8_500;
  const start = Date.parse("2024-01-01T00:00:00.000Z");
  const { all, fixture } = worldOf(
    Array.from({ length: count }, (_, index) => ({
      joined: new Date(start + ((index * 7_919) % 5_000)).toISOString(),
      isLinked: false,
      isPending: false,
    })),
  );
  yield* Effect.gen(function* () {
    const scope = yield* (yield* KeyStore).ensureScope(
      "acme",
      { kind: "global" },
      "pid_0123456789abcdef" as Pid,
    );
    const unlinked = yield* UnlinkedMembers;
    const { members } = yield* unlinked.page(scope, guildId, "", null, count + 1);
    const newest = all.toSorted((one, other) => timeOf(other.joined) - timeOf(one.joined));
    expect(members.map(({ chatId }) => chatId)).toEqual([manager, ...newest.map(({ chatId }) => chatId)]);
    const nobody = unlinked.page(scope, guildId, "nobody", null, 1);
    const somebody = unlinked.page(scope, guildId, "", null, 1);
    expect((yield* turnsDuring(nobody)) - (yield* turnsDuring(somebody))).toBeGreaterThan(1);
  }).pipe(Effect.provide(MemoryWorld.layer(fixture), { local: true }), Effect.scoped);
});
