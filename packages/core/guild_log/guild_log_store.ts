import { Context, Schema } from "effect";
import type { DataScope } from "../data_scope.ts";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GuildId, Pid } from "../ids.ts";
import { type HoldItems, type RecordOf, recordType } from "../records/mod.ts";
import type { HeldWrite, PlanPlace } from "../roles/role_plan_store.ts";
import type { Millis } from "../timestamp.ts";
import { LogEntry } from "./log_entry.ts";

/**
 * The most entries that wait in a log. Further ones are dropped, so refusals leave room for likely alts. @internal
 */
export const mostWaiting = ({ is }: LogEntry): number => (is === "alike" ? 2_000 : 1_000);

/** How many messages of a log are kept, to take erased users out of them. @internal */
export const mostMessages = 10_000;

/** How long messages are kept, in milliseconds. @internal */
export const messageTime = 400 * 86_400_000;

const time = Schema.NullOr(Schema.Int);

/** @internal */
export const guildLogs = recordType({
  name: "guild_logs",
  fields: {
    id: Schema.String,
    pid: Pid,
    guildId: GuildId,
    /** Null if the log was turned off. It is kept while messages still name erased users. */
    channelId: Schema.NullOr(Schema.String),
    /** Events up to this position were told. */
    position: Schema.Int,
    /** The problems of the plan that were told. */
    problems: Schema.Array(Schema.String),
    /** When the channel was found closed; null if it is open. */
    closedAt: time,
    /** The node that works on the log; null if no node does. */
    holder: Schema.NullOr(Schema.String),
  },
  json: ["problems"],
  key: ["id"],
  indexes: { byScope: { fields: ["pid", "id"], group: 1 }, byHolder: { fields: ["holder", "id"] } },
  held: { index: "byHolder", nodes: "guild_log_nodes" },
});

/** Entries that wait. @internal */
export const guildLogEntries = recordType({
  name: "guild_log_entries",
  fields: { logId: Schema.String, id: Schema.Int, chatId: ChatId, entry: LogEntry, at: Schema.Int },
  json: ["entry"],
  key: ["logId", "id"],
  indexes: {
    byLog: { fields: ["logId", "id"], group: 1 },
    byUser: { fields: ["chatId", "logId", "id"], group: 1 },
  },
  ofUser: { index: "byUser", erasedAs: null },
});

/** Messages that were posted. @internal */
export const guildLogMessages = recordType({
  name: "guild_log_messages",
  fields: {
    logId: Schema.String,
    messageId: Schema.String,
    channelId: Schema.String,
    lines: Schema.Array(Schema.Struct({ text: Schema.String, chatIds: Schema.Array(ChatId) })),
    at: Schema.Int,
    erasedAt: time,
    editAt: time,
  },
  json: ["lines"],
  key: ["logId", "messageId"],
  indexes: {
    byTime: { fields: ["logId", "at"] },
    edits: { fields: ["logId", "editAt", "messageId"] },
  },
});

type LogRecord = RecordOf<typeof guildLogs>;
export type MessageRecord = RecordOf<typeof guildLogMessages>;

/** The users in messages. @internal */
export const guildLogUsers = recordType({
  name: "guild_log_users",
  fields: { logId: Schema.String, messageId: Schema.String, chatId: ChatId },
  key: ["logId", "messageId", "chatId"],
  indexes: { byUser: { fields: ["chatId", "logId", "messageId"], group: 1 } },
});

/** A log that a node works on. */
export interface HeldLog extends Pick<LogRecord, "guildId" | "position" | "closedAt" | "problems"> {
  readonly scope: DataScope;
  /** Null if the log was turned off, or its account is suspended. */
  readonly channelId: string | null;
  /** When the problems of the plan changed last; null if they never did. Each change has a later time. */
  readonly problemAt: Millis | null;
  /** When the oldest entry began to wait; null if none waits. */
  readonly waitsSince: Millis | null;
  /** When the next message that names erased users is due; null without such a message. */
  readonly editAt: Millis | null;
}

/** An entry that waits to be told. Later entries have greater IDs. */
export type WaitingEntry = Pick<RecordOf<typeof guildLogEntries>, "id" | "entry" | "at">;

export interface LogMessage extends Pick<MessageRecord, "channelId" | "messageId" | "lines"> {}

/** A line of a message, and the chat users that it names. */
export type LogLine = LogMessage["lines"][number];

export interface UserEntry extends PlanPlace, Pick<WaitingEntry, "entry" | "at"> {}

export interface UserMessage extends PlanPlace, Pick<MessageRecord, "channelId" | "messageId" | "at"> {}

/** A message from which users were erased after it was posted. */
export interface ErasedMessage extends LogMessage {
  /** When the first of these users was erased. */
  readonly erasedAt: Millis;
}

export interface RecordTold extends HeldWrite, Pick<LogRecord, "position" | "problems" | "closedAt"> {
  readonly told: ReadonlyArray<number>;
  /** The message that was posted; null if there was nothing to tell, or if the platform refused the message. */
  readonly message: LogMessage | null;
}

/** Stands in place of a line that named an erased user. @internal */
export const erasedLine: LogLine = { text: "-# [erased]", chatIds: [] };

/** Returns the lines of a message without those that name a user; null if none does. @internal */
export const linesWithoutUser = (
  lines: ReadonlyArray<LogLine>,
  chatId: ChatId,
): ReadonlyArray<LogLine> | null =>
  lines.some(({ chatIds }) => chatIds.includes(chatId))
    ? lines.map((line) => (line.chatIds.includes(chatId) ? erasedLine : line))
    : null;

/**
 * Stores what logs have to tell and have told, and which node works on each log. `CommunityStore` makes, moves and turns
 * off the log of a community, which follows its settings. Every operation is atomic. Erasing a user deletes the
 * waiting entries about the user, and takes the lines that name the user out of messages, which then are due to be
 * edited.
 */
export class GuildLogStore extends Context.Service<
  GuildLogStore,
  {
    readonly add: (pid: Pid, entry: LogEntry, at: Millis) => StoreEffect<void>;

    /** Renews the lease of a node, and assigns to it further logs that no live node holds. Returns the node's logs. */
    readonly hold: (hold: HoldItems) => StoreEffect<ReadonlyArray<HeldLog>>;

    readonly waiting: (place: PlanPlace, limit: number) => StoreEffect<ReadonlyArray<WaitingEntry>>;

    /**
     * Stores what was told. Deletes the oldest messages beyond `mostMessages` and those older than `messageTime`.
     * Returns false if another node holds the log; the message is stored nevertheless, since users see it.
     */
    readonly record: (write: RecordTold) => StoreEffect<boolean>;

    /** Returns messages to edit that are due, the earliest first. */
    readonly dueEdits: (
      place: PlanPlace,
      at: Millis,
      limit: number,
    ) => StoreEffect<ReadonlyArray<ErasedMessage>>;

    /**
     * Stores that a message was edited, or that it has to be tried again. Does nothing if another node stored that the
     * message was edited, or if another user was erased from the message after these lines were read.
     *
     * @param retryAt null if the message was edited, or cannot be
     */
    readonly settleEdit: (place: PlanPlace, message: LogMessage, retryAt: Millis | null) => StoreEffect<void>;

    /** Takes a user out of waiting entries and messages of all logs, as an erasure does. */
    readonly forgetUser: (chatId: ChatId, at: Millis) => StoreEffect<void>;

    /** Deletes the messages of all logs that are older than `messageTime`. */
    readonly forget: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/GuildLogStore") {}
