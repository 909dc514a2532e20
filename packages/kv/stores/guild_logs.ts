/** The logs of communities, and what plans and erasures do to them. */
import type { ChatId } from "@accountlink/core";
import {
  type LogMessage,
  linesWithoutUser,
  type UserMessage,
  type WaitingEntry,
} from "@accountlink/core/guild_log";
import type { PlanPlace } from "@accountlink/core/roles";
import { Effect, Order } from "effect";
import { removeInSteps } from "../steps.ts";
import { table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import type { ScopeRef } from "./scopes.ts";

/** The log of a community. */
export interface KeptLog extends PlanPlace {
  readonly scope: ScopeRef;
  readonly channelId: string | null;
  readonly position: number;
  readonly closedAt: number | null;
  readonly problems: ReadonlyArray<string>;
  /** The node that works on the log; null if no node does. */
  readonly holder: string | null;
  /** The number of messages that have to be edited. */
  readonly edits: number;
  /** Entries of earlier times, which ended when the log was turned off, are deleted. */
  readonly time: number;
}

export const guildLogs = table<KeptLog>()(
  "guild_log",
  ({ pid, guildId }) => [pid, guildId],
  {
    /** The logs that need a node. */
    byHolder: {
      keys: ({ holder, channelId, edits, pid, guildId }) =>
        channelId !== null || edits > 0 ? [[holder ?? "", pid, guildId]] : [],
    },
  },
  1,
);

interface KeptEntry extends WaitingEntry, PlanPlace {
  /** The time of the log when it was added. */
  readonly time: number;
}

export const logEntries = table<KeptEntry>()(
  "log_entry",
  ({ pid, guildId, time, id }) => [pid, guildId, time, id],
  {
    byUser: {
      keys: ({ pid, guildId, time, id, entry }) => [[entry.chatId, pid, guildId, time, id]],
      group: 1,
    },
  },
  2,
);

export interface KeptMessage extends LogMessage, PlanPlace {
  readonly at: number;
  readonly erasedAt: number | null;
  readonly editAt: number | null;
}

export const logMessages = table<KeptMessage>()(
  "log_message",
  ({ pid, guildId, messageId }) => [pid, guildId, messageId],
  {
    byUser: {
      keys: ({ pid, guildId, messageId, lines }) =>
        [...new Set(lines.flatMap(({ chatIds }) => chatIds))].map((id) => [id, pid, guildId, messageId]),
      group: 1,
    },
    edits: {
      keys: ({ pid, guildId, messageId, editAt }) =>
        editAt === null ? [] : [[pid, guildId, editAt, messageId]],
    },
    byTime: { keys: ({ pid, guildId, messageId, at }) => [[pid, guildId, at, messageId]] },
  },
);

/** Makes, moves or turns off the log of a community. A log that is made tells only events after `position`. */
export const followLog = Effect.fnUntraced(function* (
  tx: Transaction,
  { scope, pid, guildId }: PlanPlace & { readonly scope: ScopeRef },
  before: string | null,
  channelId: string | null,
  position: number,
) {
  if (channelId === before) return;
  const stored = yield* tx.get(guildLogs, pid, guildId);
  yield* tx.put(guildLogs, {
    holder: null,
    problems: [],
    edits: 0,
    ...stored,
    scope,
    pid,
    guildId,
    channelId,
    closedAt: null,
    position: before === null ? position : (stored?.position ?? position),
    time: (stored?.time ?? 0) + Number(channelId === null),
  });
});

/** Deletes the entries of a log that was turned off. */
export const deleteEntries = (db: Database, { pid, guildId }: PlanPlace) =>
  Effect.flatMap(
    db.read((tx) => tx.get(guildLogs, pid, guildId)),
    (log) => removeInSteps(db, logEntries, [pid, guildId], { before: [log?.time ?? 0] }),
  );

/** When the channel of a plan's log was found closed; null if it is open. */
export const closedSince = (tx: Transaction, { pid, guildId }: PlanPlace) =>
  Effect.map(tx.get(guildLogs, pid, guildId), (log) => log?.closedAt ?? null);

/** Finds the messages that name a chat user. */
export const messagesOf = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  return (yield* tx.list(logMessages.byUser, [chatId]))
    .map(
      ({ pid, guildId, channelId, messageId, at }): UserMessage => ({
        pid,
        guildId,
        channelId,
        messageId,
        at,
      }),
    )
    .toSorted((one, other) => Order.String(one.messageId, other.messageId));
});

/** Takes a chat user out of up to `limit` messages that logs have told, and out of up to `limit` that they will tell. */
export const forgetInLogs = Effect.fnUntraced(function* (
  tx: Transaction,
  chatId: ChatId,
  at: number,
  limit: number,
) {
  const waiting = yield* tx.list(logEntries.byUser, [chatId], { limit });
  for (const entry of waiting) yield* tx.remove(logEntries, ...logEntries.id(entry));
  const told = yield* tx.list(logMessages.byUser, [chatId], { limit });
  for (const message of told) {
    const { pid, guildId, lines, erasedAt, editAt } = message;
    const left = linesWithoutUser(lines, chatId) ?? lines;
    yield* tx.put(logMessages, { ...message, lines: left, editAt: at, erasedAt: erasedAt ?? at });
    const log = editAt === null ? yield* tx.get(guildLogs, pid, guildId) : undefined;
    if (log !== undefined) yield* tx.put(guildLogs, { ...log, edits: log.edits + 1 });
  }
  return { pids: told.map(({ pid }) => pid), isMore: waiting.length === limit || told.length === limit };
});
