/** Logs of communities in any storage. */
import { Array as Arr, Effect } from "effect";
import { type ChatId, GuildId, Pid } from "../ids.ts";
import { keysOfAll, recordStore, removeFound, type Tx } from "../records/records.ts";
import { type PlanPlace, planNotices } from "../roles/mod.ts";
import type { Millis } from "../timestamp.ts";
import {
  GuildLogStore,
  guildLogEntries,
  guildLogMessages,
  guildLogs,
  guildLogUsers,
  type LogMessage,
  linesWithoutUser,
  type MessageRecord,
  messageTime,
  mostMessages,
  mostWaiting,
  type UserEntry,
  type UserMessage,
} from "./guild_log_store.ts";

/** The ID of the log of a community. @internal */
export const logIdOf = ({ pid, guildId }: PlanPlace): string => `${pid} ${guildId}`;

const placeOf = (logId: string): PlanPlace => {
  const [pid = "", guildId = ""] = logId.split(" ");
  return { pid: Pid.make(pid), guildId: GuildId.make(guildId) };
};

/** The users in a message. @internal */
export const usersOfMessage = ({ logId, messageId, lines }: MessageRecord) =>
  [...new Set(lines.flatMap(({ chatIds }) => chatIds))].map((chatId) => ({ logId, messageId, chatId }));

const removeUsers = removeFound(guildLogUsers);

/** Finds the oldest message of each of 100 logs, which follow a log. */
const oldestMessages = Effect.fnUntraced(function* (tx: Tx, after: string) {
  const logs = yield* tx.list(guildLogs.byKey, [], { after: [after], limit: 100 });
  const ids = logs.map(({ id }) => [id]);
  return { last: logs.at(-1)?.id, oldest: yield* tx.firsts(guildLogMessages.byTime, ids) };
});

/** Makes, moves or turns off a log. A log that is made tells only events after `position`. @internal */
export const followLog = Effect.fnUntraced(function* (
  tx: Tx,
  { pid, guildId }: PlanPlace,
  before: string | null,
  channelId: string | null,
  position: number,
) {
  if (channelId === before) return;
  const id = logIdOf({ pid, guildId });
  const stored = yield* tx.get(guildLogs, id);
  yield* tx.put(guildLogs, {
    holder: null,
    problems: [],
    ...stored,
    id,
    pid,
    guildId,
    channelId,
    closedAt: null,
    position: before === null ? position : (stored?.position ?? position),
  });
});

/** Has the channel of a log tried at once if it was found closed, because somebody chose it again. @internal */
export const retryLog = Effect.fnUntraced(function* (tx: Tx, place: PlanPlace) {
  const stored = yield* tx.get(guildLogs, logIdOf(place));
  if (stored !== undefined && stored.closedAt !== null)
    yield* tx.put(guildLogs, { ...stored, closedAt: null });
});

/** Finds the messages that name a chat user. @internal */
export const messagesOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const named = yield* tx.list(guildLogUsers.byUser, [chatId]);
  const keys = named.map(({ logId, messageId }) => [logId, messageId]);
  const found = yield* tx.getAll(guildLogMessages, keys);
  return found
    .toSorted((one, other) => (placeText(one) < placeText(other) ? -1 : 1))
    .map(
      ({ logId, channelId, messageId, at }): UserMessage => ({ ...placeOf(logId), channelId, messageId, at }),
    );
});

const placeText = ({ logId, messageId }: MessageRecord): string => `${logId} ${messageId}`;

/** Finds the waiting entries about a chat user. @internal */
export const entriesAbout = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const found = yield* tx.list(guildLogEntries.byUser, [chatId]);
  return found.map(({ logId, entry, at }): UserEntry => ({ ...placeOf(logId), entry, at }));
});

/**
 * Takes a chat user out of up to `limit` messages that logs have told, and out of up to `limit` that they will tell.
 * Returns the scopes of the former. @internal
 */
export const forgetInLogs = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId, at: Millis, limit: number) {
  const waiting = yield* tx.list(guildLogEntries.byUser, [chatId], { limit });
  yield* removeFound(guildLogEntries)(tx, waiting);
  const named = yield* tx.list(guildLogUsers.byUser, [chatId], { limit });
  for (const { logId, messageId } of named) {
    // Locks each message, so that erasures of two users in one message do not undo each other.
    const message = yield* tx.get(guildLogMessages, logId, messageId);
    if (message === undefined) continue;
    const lines = linesWithoutUser(message.lines, chatId) ?? message.lines;
    const left = { ...message, lines, editAt: at, erasedAt: message.erasedAt ?? at };
    yield* tx.put(guildLogMessages, left);
    const still = new Set(usersOfMessage(left).map((user) => user.chatId));
    // An erased line may have named other users too.
    const gone = usersOfMessage(message).filter((user) => !still.has(user.chatId));
    yield* removeUsers(tx, gone);
  }
  return {
    pids: named.map(({ logId }) => placeOf(logId).pid),
    isMore: waiting.length === limit || named.length === limit,
  };
});

/** @internal */
export const storedGuildLogs = recordStore(GuildLogStore, ({ read, write, inSteps, hold, mostWritten }) => {
  /** Deletes messages that nobody will edit any more. Usually one message is too many. */
  const forgetOld = (operation: "record" | "forget", logId: string, at: Millis) =>
    inSteps(
      operation,
      logId,
      Effect.fnUntraced(function* (tx: Tx, records: number) {
        const limit = (yield* tx.count(guildLogMessages.byTime, [logId])) - mostMessages;
        const beyond = limit <= 0 ? [] : yield* tx.list(guildLogMessages.byTime, [logId], { limit });
        const before = Math.max(beyond.at(-1)?.at ?? -Infinity, at - messageTime) + 1;
        // A message may name 30 users.
        const some = Math.max(1, Math.floor(records / 5));
        const old = yield* tx.list(guildLogMessages.byTime, [logId], { before: [before], limit: some });
        return old.filter(({ editAt }) => editAt === null);
      }),
      Effect.fnUntraced(function* (tx: Tx, found: ReadonlyArray<MessageRecord>) {
        const removed = yield* tx.removeAll(guildLogMessages, keysOfAll(guildLogMessages, found));
        yield* removeUsers(tx, removed.flatMap(usersOfMessage));
        return removed.length;
      }),
    );

  const insertMessage = Effect.fnUntraced(function* (tx: Tx, logId: string, message: LogMessage, at: Millis) {
    if ((yield* tx.get(guildLogMessages, logId, message.messageId)) !== undefined) return;
    const stored = { ...message, logId, at, erasedAt: null, editAt: null };
    yield* tx.create(guildLogMessages, stored);
    yield* tx.putAll(guildLogUsers, usersOfMessage(stored));
  });

  return {
    add: Effect.fnUntraced(function* (pid, entry, at) {
      const logs = yield* read("add", (tx) => tx.list(guildLogs.byScope, [pid]));
      // A scope has any number of logs, so each has a transaction of its own.
      for (const { id: logId } of logs.filter(({ channelId }) => channelId !== null)) {
        yield* write("add", logId, function* (tx) {
          const log = yield* tx.get(guildLogs, logId);
          const waiting = yield* tx.count(guildLogEntries.byLog, [logId]);
          if (log === undefined || log.channelId === null || waiting >= mostWaiting(entry)) return;
          const [last] = yield* tx.list(guildLogEntries.byLog, [logId], { reverse: true, limit: 1 });
          const { chatId } = entry;
          yield* tx.create(guildLogEntries, { logId, id: (last?.id ?? 0) + 1, chatId, entry, at });
        });
      }
    }),

    hold: (items) =>
      hold("hold", guildLogs, items, function* (tx, held) {
        const ids = held.map(({ id }) => [id]);
        const waiting = yield* tx.firsts(guildLogEntries.byKey, ids);
        const edits = yield* tx.firsts(guildLogMessages.edits, ids);
        const scopes = yield* tx.scopes(held.map(({ pid }) => pid));
        const places = held.map(({ pid, guildId }) => [pid, guildId]);
        const notices = yield* tx.firsts(planNotices.byKey, places);
        return held.flatMap(({ pid, guildId, channelId, position, closedAt, problems: told }, index) => {
          const known = scopes.get(pid);
          const editAt = edits[index]?.editAt ?? null;
          // Suspended accounts get no news, but erased users are still taken out of their messages.
          const open = known?.isActive === true ? channelId : null;
          if (known === undefined || (open === null && editAt === null)) return [];
          const problemAt = notices[index]?.problemAt ?? null;
          const waitsSince = waiting[index]?.at ?? null;
          const log = { scope: known.scope, guildId, channelId: open, position, closedAt, problems: told };
          return [{ ...log, problemAt, waitsSince, editAt }];
        });
      }),

    waiting: (place, limit) =>
      read("waiting", function* (tx) {
        const found = yield* tx.list(guildLogEntries.byKey, [logIdOf(place)], { limit });
        return found.map(({ id, entry, at }) => ({ id, entry, at }));
      }),

    record: Effect.fnUntraced(function* (told) {
      const { node, at, position, problems, message, closedAt } = told;
      const id = logIdOf(told);
      const named = message?.lines.flatMap(({ chatIds }) => chatIds).length ?? 0;
      const isOne = named + told.told.length <= mostWritten;
      const parts = isOne ? [told.told] : [[], ...Arr.chunksOf(told.told, mostWritten)];
      let isHeld = true;
      for (const [index, part] of parts.entries()) {
        isHeld &&= yield* write("record", id, function* (tx) {
          const log = yield* tx.get(guildLogs, id);
          if (log === undefined) return false;
          if (message !== null && index === 0) yield* insertMessage(tx, id, message, at);
          if (log.holder !== node) return false;
          const keys = part.map((entry) => [id, entry]);
          yield* tx.removeAll(guildLogEntries, keys);
          if (index === parts.length - 1) yield* tx.put(guildLogs, { ...log, position, problems, closedAt });
          return true;
        });
      }
      if (message !== null) {
        while ((yield* forgetOld("record", id, at)) > 0);
      }
      return isHeld;
    }),

    dueEdits: (place, at, limit) =>
      read("dueEdits", function* (tx) {
        const found = yield* tx.list(guildLogMessages.edits, [logIdOf(place)], { before: [at + 1], limit });
        return found.flatMap(({ channelId, messageId, lines, erasedAt }) =>
          erasedAt === null ? [] : [{ channelId, messageId, lines, erasedAt }],
        );
      }),

    settleEdit: (place, { messageId, lines }, retryAt) =>
      write("settleEdit", logIdOf(place), function* (tx) {
        const stored = yield* tx.get(guildLogMessages, logIdOf(place), messageId);
        if (stored === undefined || stored.editAt === null) return;
        if (JSON.stringify(stored.lines) !== JSON.stringify(lines)) return;
        const erasedAt = retryAt === null ? null : stored.erasedAt;
        yield* tx.put(guildLogMessages, { ...stored, editAt: retryAt, erasedAt });
      }),

    forgetUser: Effect.fnUntraced(function* (chatId, at) {
      const forget = write("forgetUser", chatId, (tx) => forgetInLogs(tx, chatId, at, mostWritten));
      while ((yield* forget).isMore);
    }),

    forget: Effect.fnUntraced(function* (at) {
      let last: string | undefined = "";
      while (last !== undefined) {
        const after: string = last;
        const page = yield* read("forget", (tx) => oldestMessages(tx, after));
        for (const message of page.oldest) {
          if (message === undefined || message.at > at - messageTime) continue;
          while ((yield* forgetOld("forget", message.logId, at)) > 0);
        }
        last = page.last;
      }
    }),
  };
});
