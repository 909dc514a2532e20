import { GuildId } from "@accountlink/core";
import { CommunityStore, nothingChosen } from "@accountlink/core/communities";
import { noPlan, RolePlanStore, rolePlans } from "@accountlink/core/roles";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Option } from "effect";
import { Database } from "../database.ts";
import { rangeOf } from "../keys.ts";
import { memoryKv } from "../memory_kv.ts";
import { kvTable } from "../record_tables.ts";
import type { EarlierPlan } from "./earlier_tables.ts";
import { makeScope, onStorage, origin, pid, scopeRef, storeEarlier } from "./test_storage.ts";

const [onceOn, on] = [GuildId.make("70001"), GuildId.make("70002")];
const write = { ...origin, pid };

const planOf = (guildId: GuildId, pausedAt: number | null): EarlierPlan => ({
  pid,
  guildId,
  scope: scopeRef,
  ref: Number(guildId),
  settings: { ...noPlan, state: pausedAt === null ? "on" : "paused", logChannelId: "70" },
  position: 0,
  revision: 1,
  sweptAt: null,
  sweep: pausedAt === null ? { after: null, done: 0, total: 0, startedAt: 5 } : null,
  holder: null,
  pausedAt,
});

const entryOf = (plan: EarlierPlan) => [["plan", pid, plan.guildId], plan] as const;

const panelOf = (guildId: GuildId) => {
  const panel = { pid, guildId, channelId: "71", messageId: "72" };
  return [["panel", pid, guildId, panel.channelId], panel] as const;
};

const readEarlier = Effect.gen(function* () {
  const found = yield* CommunityStore;
  const listed = yield* found.list(pid);
  const home = yield* found.findHome(onceOn);
  yield* found.update({ ...write, guildId: on, update: { logChannelId: null }, position: 0, at: 9 });
  return { listed, home, changed: yield* found.find({ pid, guildId: on }) };
});

test("communities of earlier releases are read from their plans and panels", function* () {
  const kv = memoryKv();
  yield* onStorage(kv, makeScope);
  const plans = [planOf(onceOn, 8), planOf(on, null)];
  yield* storeEarlier(kv, [...plans.map(entryOf), panelOf(onceOn), panelOf(on)]);
  const { listed, home, changed } = yield* onStorage(kv, readEarlier);
  const shown = {
    scope: { kind: "global", pid, account: "acme" },
    ...nothingChosen,
    logChannelId: "70",
    panels: [{ channelId: "71", messageId: "72", text: null }],
  };
  const wasOn = { ...shown, guildId: onceOn, homeSince: 8, paused: { at: 8, why: null, by: null } };
  const isOn = { ...shown, guildId: on, homeSince: 5, paused: null };
  expect(listed).toEqual([wasOn, isOn]);
  expect(Option.getOrThrow(home)).toEqual(wasOn);
  expect(Option.getOrThrow(changed)).toEqual({ ...isOn, logChannelId: null });
});

test("communities that an earlier release did not list among those that remind are found", function* () {
  const kv = memoryKv();
  const reminding = CommunityStore.use((store) => store.reminding()).pipe(
    Effect.map((found) => found.map(({ guildId, remindAfterDays }) => [guildId, remindAfterDays])),
  );
  const becomeEarlier = Effect.gen(function* () {
    yield* makeScope;
    const [store, communities] = [yield* RolePlanStore, yield* CommunityStore];
    for (const guildId of [onceOn, on]) {
      yield* store.put({ ...write, guildId, settings: { ...noPlan, state: "on" }, position: 0, at: 5 });
    }
    const update = { remindAfterDays: 3 };
    yield* communities.update({ ...write, guildId: on, update, position: 0, at: 6 });
    const listed = yield* reminding;
    const page = { limit: 10, reverse: false };
    const entries = yield* kv.list(rangeOf("communities.reminding", []), page);
    yield* kv.commit(
      [],
      entries.map(({ key }) => ({ key, value: null })),
    );
    yield* new Database(kv).write(pid, function* (tx) {
      for (const guildId of [onceOn, on]) yield* tx.remove(kvTable(rolePlans), pid, guildId);
    });
    yield* storeEarlier(kv, [planOf(onceOn, null), planOf(on, null)].map(entryOf));
    return [listed, yield* reminding];
  });
  expect(yield* onStorage(kv, becomeEarlier)).toEqual([[[on, 3]], []]);
  expect(yield* onStorage(kv, reminding)).toEqual([[on, 3]]);
});
