import { expect, testWith } from "@accountlink/test-servers/effect";
import { Clock, Effect, Fiber, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { layerOwners } from "../account_link.ts";
import { KeyStore } from "../keys/key_store.ts";
import { LinkStore } from "../links/link_store.ts";
import { noPlan } from "../roles/role_plan.ts";
import { RolePlanStore } from "../roles/role_plan_store.ts";
import { RolePlans } from "../roles/role_plans.ts";
import { chatId, gameId, guildId, operator, scopes, services } from "../test_services.ts";
import { OwnedAccounts } from "./owned_accounts.ts";

const test = testWith(Layer.provideMerge(layerOwners, services));

/** Deletes the account of the scopes. */
const removal = Effect.gen(function* () {
  const { global } = yield* scopes;
  const account = Option.getOrThrow(yield* KeyStore.use((keys) => keys.findAccount(global.account)));
  const owner = { account, chatId: chatId("10001"), requestId: "1", scopes: null };
  yield* OwnedAccounts.use(({ remove }) => remove(owner));
});

test("a deleted account takes its role plans with it, also one that was never on", function* () {
  const { global, guild } = yield* scopes;
  const plans = yield* RolePlans;
  yield* plans.put({ scope: guild, guildId }, { ...noPlan, state: "on" }, operator);
  const nickname = "{game.username}";
  yield* plans.put({ scope: global, guildId }, { ...noPlan, nickname }, operator);
  const stored = Effect.map(
    Effect.forEach([global, guild], ({ pid }) => RolePlanStore.use((store) => store.list(pid))),
    (all) => all.map(({ length }) => length),
  );
  expect(yield* stored).toEqual([1, 1]);
  const removing = yield* Effect.forkChild(removal);
  yield* TestClock.adjust("1 second");
  yield* Fiber.join(removing);
  expect(yield* stored).toEqual([0, 0]);
});

test("what is linked before all nodes refuse the keys of a deleted account is deleted too, also if its owner leaves", function* () {
  const { global } = yield* scopes;
  const links = yield* LinkStore;
  const removing = yield* Effect.forkChild(removal);
  yield* TestClock.adjust("900 millis");
  const leaving = yield* Effect.forkChild(Fiber.interrupt(removing));
  const at = yield* Clock.currentTimeMillis;
  const link = { chatId: chatId("10002"), gameId: gameId("1") };
  yield* links.setGame({ ...operator, ...link, pid: global.pid, at });
  yield* TestClock.adjust("100 millis");
  yield* Fiber.join(leaving);
  expect(yield* links.countLinks(global.pid)).toBe(0);
});
