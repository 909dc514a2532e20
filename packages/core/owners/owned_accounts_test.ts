import { setTimeout } from "node:timers/promises";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Clock, Effect, Fiber, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { layerOwners } from "../account_link.ts";
import type { DataScope } from "../data_scope.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { KeyStore } from "../keys/key_store.ts";
import { LinkStore } from "../links/link_store.ts";
import { noPlan } from "../roles/role_plan.ts";
import { RolePlanStore } from "../roles/role_plan_store.ts";
import { RolePlans } from "../roles/role_plans.ts";
import { chatId, gameId, guildId, operator, scopes, services } from "../test_services.ts";
import { OwnedAccounts } from "./owned_accounts.ts";

const test = testWith(Layer.provideMerge(layerOwners, services));

/** Lets effects end that do not wait, and then a time pass, in milliseconds. */
const pass = (time: number) => {
  const ended = Effect.promise(() => setTimeout(10));
  return ended.pipe(Effect.andThen(TestClock.adjust(time)), Effect.andThen(ended));
};

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
  yield* pass(1_000);
  yield* pass(1_000);
  yield* Fiber.join(removing);
  expect(yield* stored).toEqual([0, 0]);
});

/** Links a chat user. Returns how many links the scope has. */
const link = Effect.fnUntraced(function* ({ pid }: DataScope) {
  const at = yield* Clock.currentTimeMillis;
  const linked = { chatId: chatId("10002"), gameId: gameId("1") };
  yield* LinkStore.use((links) => links.setGame({ ...operator, ...linked, pid, at }));
  return LinkStore.use((links) => links.countLinks(pid));
});

const newKey = {
  account: { name: "acme", chatId: null, tier: "premium" },
  target: { kind: "global" },
} as const;

const isLeft = KeyStore.use((keys) => Effect.map(keys.findAccount("acme"), Option.isSome));

test("an account ends after what nodes linked that still accepted its keys, so that a kill leaves nothing", function* () {
  const { global } = yield* scopes;
  const { key } = yield* ApiKeys.use((keys) => keys.create(newKey, operator));
  const status = KeyStore.use((keys) => keys.findById(key.id)).pipe(
    Effect.map((found) => Option.getOrThrow(found).status),
  );
  const removing = yield* Effect.forkChild(removal);
  yield* pass(900);
  expect([yield* status, yield* isLeft]).toEqual(["revoked", true]);
  const left = yield* link(global);
  yield* pass(100);
  const atEnd = [yield* left, yield* isLeft];
  yield* pass(1_000);
  yield* Fiber.join(removing);
  expect(atEnd).toEqual([0, false]);
});

test("what members link before all nodes end their sign-ins is deleted too, also if the owner leaves", function* () {
  const { global } = yield* scopes;
  const removing = yield* Effect.forkChild(removal);
  yield* pass(1_000);
  yield* pass(900);
  const leaving = yield* Effect.forkChild(Fiber.interrupt(removing));
  const left = yield* link(global);
  yield* pass(100);
  yield* Fiber.join(leaving);
  expect([yield* left, yield* isLeft]).toEqual([0, false]);
});
