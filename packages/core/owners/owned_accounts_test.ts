import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import { layerOwners } from "../account_link.ts";
import { KeyStore } from "../keys/key_store.ts";
import { noPlan } from "../roles/role_plan.ts";
import { RolePlanStore } from "../roles/role_plan_store.ts";
import { RolePlans } from "../roles/role_plans.ts";
import { chatId, guildId, operator, scopes, services } from "../test_services.ts";
import { OwnedAccounts } from "./owned_accounts.ts";

const test = testWith(Layer.provideMerge(layerOwners, services));

test("a deleted account takes its role plans with it, also one that was never on", function* () {
  const { global, guild } = yield* scopes;
  const plans = yield* RolePlans;
  yield* plans.put({ scope: guild, guildId }, { ...noPlan, state: "on" }, operator);
  const nickname = "{game.username}";
  yield* plans.put({ scope: global, guildId }, { ...noPlan, nickname }, operator);
  const account = Option.getOrThrow(yield* KeyStore.use((keys) => keys.findAccount(global.account)));
  const stored = Effect.map(
    Effect.forEach([global, guild], ({ pid }) => RolePlanStore.use((store) => store.list(pid))),
    (all) => all.map(({ length }) => length),
  );
  expect(yield* stored).toEqual([1, 1]);
  const owner = { account, chatId: chatId("10001"), requestId: "1", scopes: null };
  yield* OwnedAccounts.use(({ remove }) => remove(owner));
  expect(yield* stored).toEqual([0, 0]);
});
