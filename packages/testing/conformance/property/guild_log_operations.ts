/** The operations of `GuildLogStore`. */
import { ChatId, GameId } from "@accountlink/core";
import { erasedLine, type GuildLogStore, type LogEntry, type LogLine } from "@accountlink/core/guild_log";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob } from "../scopes.ts";
import { at, community, fixed, maybe, mostly, type OperationsOf, operation } from "./operation.ts";
import { nth } from "./subjects.ts";
import { limit } from "./worker_operations.ts";

const { array, constantFrom, nat } = FastCheck;

const { scope } = community;
const node = nat(1);
const channel = mostly("70", "71");

const entry: FastCheck.Arbitrary<LogEntry> = constantFrom(
  { is: "refused", chatId: ChatId.make(ada), gameId: null, why: "blocked" },
  { is: "alike", chatId: ChatId.make(bob), gameId: GameId.make("1"), level: "HIGH" },
);

/** Few lists, so that edits often name the lines of a stored message. */
const lines = constantFrom<ReadonlyArray<LogLine>>(
  [
    { text: "Ädä 🎮", chatIds: [ada] },
    { text: "", chatIds: [ada, bob] },
  ],
  [{ text: "bob", chatIds: [bob] }],
  [erasedLine],
);

const message = FastCheck.record({ channelId: channel, messageId: mostly("1", "2"), lines });

export const guildLogOperations = {
  "GuildLogStore.add": operation(4, { scope, entry, at }, ({ logs, pid }, input) =>
    logs.add(pid, input.entry, input.at),
  ),
  "GuildLogStore.hold": operation(
    3,
    { node, at, lasts: mostly(4, 0) },
    ({ logs, guildIds, nodes }, { lasts, ...input }) =>
      Effect.map(
        logs.hold({ node: nth(nodes, input.node), at: input.at, until: input.at + lasts, limit }),
        (held) => new Set(held.filter(({ guildId }) => guildIds.includes(guildId))),
      ),
  ),
  "GuildLogStore.waiting": operation(
    1,
    { ...community, most: constantFrom(1, 10) },
    ({ logs, place }, input) => logs.waiting(place, input.most),
  ),
  "GuildLogStore.record": operation(
    8,
    {
      ...community,
      node,
      at,
      position: nat(3),
      told: FastCheck.uniqueArray(constantFrom(1, 2), { maxLength: 2 }),
      problems: array(constantFrom("a", "b"), { maxLength: 1 }),
      message: maybe(message),
      closedAt: maybe(at),
    },
    ({ logs, place, nodes }, { guild: _, scope: __, ...input }) =>
      logs.record({ ...input, ...place, node: nth(nodes, input.node) }),
  ),
  "GuildLogStore.dueEdits": operation(1, { ...community, at }, ({ logs, place }, input) =>
    logs.dueEdits(place, input.at, 10),
  ),
  "GuildLogStore.settleEdit": operation(
    4,
    // Null settles the message that is due first.
    { ...community, message: maybe(message), retryAt: maybe(at) },
    ({ logs, place }, input) =>
      Effect.flatMap(logs.dueEdits(place, 3, 1), ([due]) => {
        const settled = input.message ?? due;
        return settled === undefined ? Effect.void : logs.settleEdit(place, settled, input.retryAt);
      }),
  ),
  "GuildLogStore.forgetUser": operation(2, { chatId: constantFrom(ada, bob), at }, ({ logs }, input) =>
    logs.forgetUser(input.chatId, input.at),
  ),
  "GuildLogStore.forget": fixed(({ logs }) => logs.forget(-1_000_000)),
} satisfies OperationsOf<"GuildLogStore", GuildLogStore["Service"]>;
