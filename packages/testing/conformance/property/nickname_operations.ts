/** The operations of `RolePlanStore` on nicknames that plans set and replaced. */
import { Effect, Struct } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob, dan } from "../scopes.ts";
import { at, community, fixed, maybe, operation } from "./operation.ts";

const { constantFrom } = FastCheck;

const chatId = constantFrom(ada, bob, dan);
const chatIds = FastCheck.subarray([ada, bob, dan]);
const replaced = maybe(FastCheck.record({ nickname: maybe(constantFrom("Ädä 🎮", "bob")) }));

export const nicknameOperations = {
  "RolePlanStore.nicknames": operation(1, { ...community, chatIds }, ({ plans, place }, input) =>
    plans.nicknames(place, input.chatIds),
  ),
  "RolePlanStore.startNickname": operation(
    1,
    { ...community, chatId, given: constantFrom("ada", "ada\nada\nbob"), replaced, at },
    ({ plans, place }, { given, ...input }) =>
      plans.startNickname(place, { ...Struct.pick(input, ["chatId", "replaced", "at"]), nickname: given }),
  ),
  "RolePlanStore.keptNicknames": operation(
    1,
    { ...community, after: maybe(chatId), most: constantFrom(1, 2, 10) },
    ({ plans, place }, input) => plans.keptNicknames(place, input.after, input.most),
  ),
  "RolePlanStore.keptNickname": operation(1, { ...community, chatId }, ({ plans, place }, input) =>
    plans.keptNickname(place, input.chatId),
  ),
  "RolePlanStore.countNicknames": operation(1, community, ({ plans, place }) => plans.countNicknames(place)),
  "RolePlanStore.putNicknamesBack": operation(1, { ...community, at }, ({ plans, place, write }) =>
    plans.putNicknamesBack({ ...write, ...place }),
  ),
  "RolePlanStore.puttingBack": fixed(({ plans, guildIds }) =>
    Effect.map(plans.puttingBack(), (all) => all.filter(({ guildId }) => guildIds.includes(guildId))),
  ),
  "RolePlanStore.endPuttingBack": operation(1, community, ({ plans, place }) => plans.endPuttingBack(place)),
  "RolePlanStore.dropNickname": operation(1, { ...community, chatId }, ({ plans, place }, input) =>
    plans.dropNickname(place, input.chatId),
  ),
  "RolePlanStore.forgetNicknames": operation(1, { at }, ({ plans }, input) =>
    plans.forgetNicknames(input.at),
  ),
};
