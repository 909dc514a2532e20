/** The operations of `GuildLogStore`. */
import { ChatId, GameId } from "@accountlink/core";
import type { GuildLogStore, LogEntry, LogLine } from "@accountlink/core/guild_log";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob } from "../scopes.ts";
import { at, maybe, mostly, type OperationsOf, operation, scope } from "./operation.ts";

const { array, constantFrom, nat } = FastCheck;

const nth = <A>(all: ReadonlyArray<A>, index: number): A => all[index] as A;

const [guild, node] = [mostly(0, 1), nat(1)];
const channel = mostly("70", "71");

const entry: FastCheck.Arbitrary<LogEntry> = constantFrom(
  { is: "refused", chatId: ChatId.make(ada), gameId: null, why: "blocked" },
  { is: "alike", chatId: ChatId.make(bob), gameId: GameId.make("1"), level: "HIGH" },
);

const line: FastCheck.Arbitrary<LogLine> = FastCheck.record({
  text: constantFrom("Ädä 🎮", ""),
  chatIds: FastCheck.uniqueArray(constantFrom(ada, bob), { maxLength: 2 }),
});

const message = FastCheck.record({
  channelId: channel,
  messageId: constantFrom("1", "2"),
  lines: array(line, { maxLength: 2 }),
});

export const guildLogOperations = {
  "GuildLogStore.add": operation(2, { scope, entry, at }, ({ logs, pid }, input) =>
    logs.add(pid, input.entry, input.at),
  ),
  "GuildLogStore.hold": operation(
    3,
    { node, at, lasts: mostly(4, 0) },
    ({ logs, guildIds, nodes }, { lasts, ...input }) =>
      Effect.map(
        logs.hold({ node: nth(nodes, input.node), at: input.at, until: input.at + lasts, limit: 100 }),
        (held) => new Set(held.filter(({ guildId }) => guildIds.includes(guildId))),
      ),
  ),
  "GuildLogStore.waiting": operation(
    1,
    { scope, guild, most: constantFrom(1, 10) },
    ({ logs, guildIds, pid }, input) =>
      logs.waiting({ pid, guildId: nth(guildIds, input.guild) }, input.most),
  ),
  "GuildLogStore.record": operation(
    5,
    {
      scope,
      guild,
      node,
      at,
      position: nat(3),
      told: FastCheck.uniqueArray(constantFrom(1, 2), { maxLength: 2 }),
      problems: array(constantFrom("a", "b"), { maxLength: 1 }),
      // Named cases test messages.
      message: FastCheck.constant(null),
      closedAt: maybe(at),
    },
    ({ logs, guildIds, nodes, pid }, { guild: of, scope: _, ...input }) =>
      logs.record({ ...input, pid, guildId: nth(guildIds, of), node: nth(nodes, input.node) }),
  ),
  "GuildLogStore.dueEdits": operation(1, { scope, guild, at }, ({ logs, guildIds, pid }, input) =>
    logs.dueEdits({ pid, guildId: nth(guildIds, input.guild) }, input.at, 10),
  ),
  "GuildLogStore.settleEdit": operation(
    1,
    { scope, guild, message, retryAt: maybe(at) },
    ({ logs, guildIds, pid }, input) =>
      logs.settleEdit({ pid, guildId: nth(guildIds, input.guild) }, input.message, input.retryAt),
  ),
  "GuildLogStore.forgetUser": operation(1, { chatId: constantFrom(ada, bob), at }, ({ logs }, input) =>
    logs.forgetUser(input.chatId, input.at),
  ),
  "GuildLogStore.findPanel": operation(1, { scope, guild, channel }, ({ logs, guildIds, pid }, input) =>
    logs.findPanel({ pid, guildId: nth(guildIds, input.guild) }, input.channel),
  ),
  "GuildLogStore.savePanel": operation(
    1,
    { scope, guild, channel, messageId: constantFrom("1", "2") },
    ({ logs, guildIds, pid }, input) =>
      logs.savePanel({ pid, guildId: nth(guildIds, input.guild) }, input.channel, input.messageId),
  ),
} satisfies OperationsOf<"GuildLogStore", GuildLogStore["Service"]>;
