/** The operations of `RolePlanStore` on nicknames that plans set and replaced. */
import * as FastCheck from "fast-check";
import { ada, bob, dan, type ScopeName } from "../scopes.ts";
import { at, maybe, mostly, operation } from "./operation.ts";
import { nth } from "./subjects.ts";

const { constantFrom } = FastCheck;

const scope = mostly<ScopeName>("global", "guild");
const guild = mostly(0, 1);
const chatId = constantFrom(ada, bob, dan);
const chatIds = FastCheck.subarray([ada, bob, dan]);
const nickname = maybe(constantFrom("Ädä 🎮", "bob"));

export const nicknameOperations = {
  "RolePlanStore.nicknames": operation(1, { scope, guild, chatIds }, ({ plans, guildIds, pid }, input) =>
    plans.nicknames({ pid, guildId: nth(guildIds, input.guild) }, input.chatIds),
  ),
  "RolePlanStore.keepNickname": operation(
    1,
    { scope, guild, chatId, nickname, at },
    ({ plans, guildIds, pid }, { guild: of, chatId: user, nickname: before, at: time }) =>
      plans.keepNickname({ pid, guildId: nth(guildIds, of) }, { chatId: user, nickname: before, at: time }),
  ),
  "RolePlanStore.keptNicknames": operation(
    1,
    { scope, guild, after: maybe(chatId), most: constantFrom(1, 2, 10) },
    ({ plans, guildIds, pid }, input) =>
      plans.keptNicknames({ pid, guildId: nth(guildIds, input.guild) }, input.after, input.most),
  ),
  "RolePlanStore.dropNickname": operation(1, { scope, guild, chatId }, ({ plans, guildIds, pid }, input) =>
    plans.dropNickname({ pid, guildId: nth(guildIds, input.guild) }, input.chatId),
  ),
  "RolePlanStore.forgetNicknames": operation(1, { at }, ({ plans }, input) =>
    plans.forgetNicknames(input.at),
  ),
};
