import { GuildId, Pid } from "@accountlink/core";
import { CommunityStore, nothingChosen } from "@accountlink/core/communities";
import { KeyStore } from "@accountlink/core/keys";
import { noPlan, RolePlanStore, rolePlans } from "@accountlink/core/roles";
import { Effect, Layer, Option } from "effect";
import { expect, it } from "vitest";
import { Database } from "../database.ts";
import { rangeOf } from "../keys.ts";
import { memoryKv } from "../memory_kv.ts";
import { kvTable } from "../record_tables.ts";
import { layer } from "../storage_kv.ts";
import { type EarlierPlan, earlierPlans } from "./earlier_plans.ts";
import { earlierPanels } from "./earlier_tables.ts";

const kv = memoryKv();

const pid = Pid.make("pid_0000000000000000");
const [onceOn, on] = [GuildId.make("70001"), GuildId.make("70002")];
const origin = { actor: { type: "operator", id: "ada" }, requestId: null, pid } as const;

const planOf = (guildId: GuildId, pausedAt: number | null): EarlierPlan => ({
  pid,
  guildId,
  scope: { pid, account: 1, target: { kind: "global" } },
  ref: Number(guildId),
  settings: { ...noPlan, state: pausedAt === null ? "on" : "paused", logChannelId: "70" },
  position: 0,
  revision: 1,
  sweptAt: null,
  sweep: pausedAt === null ? { after: null, done: 0, total: 0, startedAt: 5 } : null,
  holder: null,
  pausedAt,
});

const writeEarlier = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  yield* keys.ensureScope("acme", { kind: "global" }, pid);
  const db = new Database(kv);
  for (const guildId of [onceOn, on]) {
    yield* db.write(pid, function* (tx) {
      yield* tx.put(earlierPlans, planOf(guildId, guildId === on ? null : 8));
      yield* tx.put(earlierPanels, { pid, guildId, channelId: "71", messageId: "72" });
    });
  }
});

const readEarlier = Effect.gen(function* () {
  const found = yield* CommunityStore;
  const listed = yield* found.list(pid);
  const home = yield* found.findHome(onceOn);
  yield* found.update({ ...origin, guildId: on, update: { logChannelId: null }, position: 0, at: 9 });
  return { listed, home, changed: yield* found.find({ pid, guildId: on }) };
});

it("communities of earlier releases are read from their plans and panels", async () => {
  const storage = Layer.fresh(layer(Effect.succeed(kv)));
  await Effect.runPromise(Effect.provide(writeEarlier, storage));
  const { listed, home, changed } = await Effect.runPromise(Effect.provide(readEarlier, storage));
  const panels = [{ channelId: "71", messageId: "72", text: null }];
  const shown = {
    scope: { kind: "global", pid, account: "acme" },
    ...nothingChosen,
    logChannelId: "70",
    panels,
  };
  const wasOn = { ...shown, guildId: onceOn, homeSince: 8, paused: { at: 8, why: null, by: null } };
  const isOn = { ...shown, guildId: on, homeSince: 5, paused: null };
  expect(listed).toEqual([wasOn, isOn]);
  expect(Option.getOrThrow(home)).toEqual(wasOn);
  expect(Option.getOrThrow(changed)).toEqual({ ...isOn, logChannelId: null });
});

it("communities that an earlier release did not list among those that remind are found", async () => {
  const engine = memoryKv();
  const storage = Layer.fresh(layer(Effect.succeed(engine)));
  const reminding = CommunityStore.use((store) => store.reminding()).pipe(
    Effect.map((found) => found.map(({ guildId, remindAfterDays }) => [guildId, remindAfterDays])),
  );
  const { listed, unlisted } = await Effect.runPromise(
    Effect.provide(
      Effect.gen(function* () {
        const [keys, store, communities] = [yield* KeyStore, yield* RolePlanStore, yield* CommunityStore];
        yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
        yield* keys.ensureScope("acme", { kind: "global" }, pid);
        for (const guildId of [onceOn, on]) {
          yield* store.put({ ...origin, guildId, settings: { ...noPlan, state: "on" }, position: 0, at: 5 });
        }
        yield* communities.update({
          ...origin,
          guildId: on,
          update: { remindAfterDays: 3 },
          position: 0,
          at: 6,
        });
        const entries = yield* engine.list(rangeOf("communities.reminding", []), {
          limit: 10,
          reverse: false,
        });
        const before = yield* reminding;
        yield* engine.commit(
          [],
          entries.map(({ key }) => ({ key, value: null })),
        );
        yield* new Database(engine).write(pid, function* (tx) {
          for (const guildId of [onceOn, on]) {
            yield* tx.remove(kvTable(rolePlans), pid, guildId);
            yield* tx.put(earlierPlans, planOf(guildId, null));
          }
        });
        return { listed: before, unlisted: yield* reminding };
      }),
      storage,
    ),
  );
  expect([listed, unlisted]).toEqual([[[on, 3]], []]);
  expect(await Effect.runPromise(Effect.provide(reminding, storage))).toEqual([[on, 3]]);
});
