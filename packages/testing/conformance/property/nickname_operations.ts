/** The operations of `RolePlanStore` on nicknames that plans set and replaced. */
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob, dan, type ScopeName } from "../scopes.ts";
import { at, fixed, maybe, mostly, operation } from "./operation.ts";
import { nth } from "./subjects.ts";

const { constantFrom } = FastCheck;

const scope = mostly<ScopeName>("global", "guild");
const guild = mostly(0, 1);
const chatId = constantFrom(ada, bob, dan);
const chatIds = FastCheck.subarray([ada, bob, dan]);
const replaced = maybe(FastCheck.record({ nickname: maybe(constantFrom("Ädä 🎮", "bob")) }));

export const nicknameOperations = {
  "RolePlanStore.nicknames": operation(1, { scope, guild, chatIds }, ({ plans, guildIds, pid }, input) =>
    plans.nicknames({ pid, guildId: nth(guildIds, input.guild) }, input.chatIds),
  ),
  "RolePlanStore.startNickname": operation(
    1,
    { scope, guild, chatId, given: constantFrom("ada", "ada\nada\nbob"), replaced, at },
    ({ plans, guildIds, pid }, { guild: of, chatId: user, given, replaced: before, at: time }) =>
      plans.startNickname(
        { pid, guildId: nth(guildIds, of) },
        { chatId: user, nickname: given, replaced: before, at: time },
      ),
  ),
  "RolePlanStore.keptNicknames": operation(
    1,
    { scope, guild, after: maybe(chatId), most: constantFrom(1, 2, 10) },
    ({ plans, guildIds, pid }, input) =>
      plans.keptNicknames({ pid, guildId: nth(guildIds, input.guild) }, input.after, input.most),
  ),
  "RolePlanStore.keptNickname": operation(1, { scope, guild, chatId }, ({ plans, guildIds, pid }, input) =>
    plans.keptNickname({ pid, guildId: nth(guildIds, input.guild) }, input.chatId),
  ),
  "RolePlanStore.countNicknames": operation(1, { scope, guild }, ({ plans, guildIds, pid }, input) =>
    plans.countNicknames({ pid, guildId: nth(guildIds, input.guild) }),
  ),
  "RolePlanStore.putNicknamesBack": operation(1, { scope, guild, at }, ({ plans, guildIds, write }, input) =>
    plans.putNicknamesBack({ ...write, guildId: nth(guildIds, input.guild) }),
  ),
  "RolePlanStore.puttingBack": fixed(({ plans, guildIds }) =>
    Effect.map(plans.puttingBack(), (all) => all.filter(({ guildId }) => guildIds.includes(guildId))),
  ),
  "RolePlanStore.endPuttingBack": operation(1, { scope, guild }, ({ plans, guildIds, pid }, input) =>
    plans.endPuttingBack({ pid, guildId: nth(guildIds, input.guild) }),
  ),
  "RolePlanStore.dropNickname": operation(1, { scope, guild, chatId }, ({ plans, guildIds, pid }, input) =>
    plans.dropNickname({ pid, guildId: nth(guildIds, input.guild) }, input.chatId),
  ),
  "RolePlanStore.forgetNicknames": operation(1, { at }, ({ plans }, input) =>
    plans.forgetNicknames(input.at),
  ),
};
