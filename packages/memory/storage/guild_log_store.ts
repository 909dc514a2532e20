import type { ChatId, Pid } from "@accountlink/core";
import {
  GuildLogStore,
  type LogMessage,
  linesWithoutUser,
  messageTime,
  mostMessages,
  mostWaiting,
  type UserMessage,
} from "@accountlink/core/guild_log";
import type { PlanPlace, PutPlan } from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option, Order } from "effect";
import { nameOf } from "./role_previews.ts";
import { earliest, layerOf, type Memory, type MemoryLog, type MemoryLogMessage } from "./state.ts";

export const layer = layerOf(GuildLogStore, (memory) => {
  const { guildLogs, guildLogNodes, panels } = memory;

  const scopeOf = ({ pid }: MemoryLog) => memory.linksOf(pid).scope;

  const isActive = (log: MemoryLog) => memory.accounts.get(scopeOf(log).account)?.status === "active";

  return {
    add: (pid, entry, at) => {
      for (const log of guildLogs.values()) {
        if (log.pid !== pid || log.channelId === null || log.entries.length >= mostWaiting) continue;
        log.entries.push({ id: (log.entries.at(-1)?.id ?? 0) + 1, entry, at });
      }
    },

    hold: ({ node, at, until, limit }) => {
      if (until <= at) guildLogNodes.delete(node);
      else guildLogNodes.set(node, until);
      const all = [...guildLogs.values()].toSorted((one, other) => Order.String(nameOf(one), nameOf(other)));
      const isFree = (log: MemoryLog) =>
        isNeeded(log) && (log.holder === null || (guildLogNodes.get(log.holder) ?? 0) <= at);
      if (until <= at) return [];
      for (const log of all.filter(isFree).slice(0, limit)) log.holder = node;
      return all
        .filter((log) => log.holder === node && isNeeded(log) && isActive(log))
        .map((log) => {
          const { guildId, channelId, position, closedAt, problems, entries, messages } = log;
          const found = [...(memory.rolePlans.get(nameOf(log))?.problems.values() ?? [])].flat();
          return {
            scope: scopeOf(log),
            guildId,
            channelId,
            position,
            closedAt,
            problems,
            problemAt: found.length === 0 ? null : Math.max(...found.map((problem) => problem.at)),
            waitsSince: earliest(entries.map((entry) => entry.at)),
            editAt: earliest([...messages.values()].flatMap(({ editAt }) => editAt ?? [])),
          };
        });
    },

    waiting: (place, limit) => guildLogs.get(nameOf(place))?.entries.slice(0, limit) ?? [],

    record: ({ node, at, position, told, problems, message, closedAt, ...place }) => {
      const log = guildLogs.get(nameOf(place));
      if (log !== undefined && message !== null) addMessage(log, message, at);
      if (log?.holder !== node) return false;
      const entries = log.entries.filter(({ id }) => !told.includes(id));
      Object.assign(log, { position, problems, closedAt, entries });
      return true;
    },

    dueEdits: (place, at, limit) =>
      [...(guildLogs.get(nameOf(place))?.messages.values() ?? [])]
        .flatMap(({ editAt, erasedAt, channelId, messageId, lines }) =>
          editAt === null || erasedAt === null || editAt > at
            ? []
            : [{ editAt, message: { channelId, messageId, lines, erasedAt } }],
        )
        .toSorted(
          (one, other) =>
            one.editAt - other.editAt || Order.String(one.message.messageId, other.message.messageId),
        )
        .slice(0, limit)
        .map(({ message }) => message),

    settleEdit: (place, { messageId, lines }, retryAt) => {
      const messages = guildLogs.get(nameOf(place))?.messages;
      const stored = messages?.get(messageId);
      if (stored === undefined || JSON.stringify(stored.lines) !== JSON.stringify(lines)) return;
      const erasedAt = retryAt === null ? null : stored.erasedAt;
      messages?.set(messageId, { ...stored, editAt: retryAt, erasedAt });
    },

    forgetUser: (chatId, at) => void forgetInLogs(memory, chatId, at),

    findPanel: (place, channelId) => Option.fromUndefinedOr(panels.get(`${nameOf(place)} ${channelId}`)),

    savePanel: (place, channelId, messageId) => {
      assertStorable([channelId, messageId]);
      memory.linksOf(place.pid);
      panels.set(`${nameOf(place)} ${channelId}`, messageId);
    },
  };
});

const isNeeded = ({ channelId, messages }: MemoryLog) =>
  channelId !== null || [...messages.values()].some(({ editAt }) => editAt !== null);

const addMessage = ({ messages }: MemoryLog, message: LogMessage, at: Millis): void => {
  assertStorable([message.channelId, message.messageId, JSON.stringify(message.lines)]);
  if (!messages.has(message.messageId)) {
    messages.set(message.messageId, { ...message, at, erasedAt: null, editAt: null });
  }
  const newest = [...messages.values()].toSorted((one, other) => other.at - one.at);
  const beyond = newest[mostMessages]?.at ?? -1;
  for (const { messageId, ...old } of newest) {
    const isOld = old.at <= at - messageTime || old.at <= beyond;
    if (isOld && old.editAt === null) messages.delete(messageId);
  }
};

/** Makes, moves or turns off the log of a plan, as the plan says. A log that is made tells only later events. */
export const followPlan = (
  { guildLogs }: Memory,
  { pid, guildId, settings, position }: Pick<PutPlan, "pid" | "guildId" | "settings" | "position">,
  before: string | null,
): void => {
  const { logChannelId: channelId } = settings;
  if (channelId === before) return;
  const stored = guildLogs.get(nameOf({ pid, guildId }));
  const made = { holder: null, problems: [], entries: [], messages: new Map<string, MemoryLogMessage>() };
  guildLogs.set(nameOf({ pid, guildId }), {
    ...made,
    ...stored,
    pid,
    guildId,
    channelId,
    closedAt: null,
    position: before === null ? position : (stored?.position ?? position),
    entries: channelId === null ? [] : (stored?.entries ?? []),
  });
};

/** When the channel of a plan's log was found closed; null if it is open. */
export const closedSince = ({ guildLogs }: Memory, place: PlanPlace): Millis | null =>
  guildLogs.get(nameOf(place))?.closedAt ?? null;

/** Finds the messages that name a chat user, by a scan. */
export const messagesOf = ({ guildLogs }: Memory, chatId: ChatId): ReadonlyArray<UserMessage> =>
  [...guildLogs.values()].flatMap(({ pid, guildId, messages }) =>
    [...messages.values()]
      .filter(({ lines }) => linesWithoutUser(lines, chatId) !== null)
      .map(({ channelId, messageId, at }) => ({ pid, guildId, channelId, messageId, at }))
      .toSorted((one, other) => Order.String(one.messageId, other.messageId)),
  );

/** Takes a chat user out of what logs have told and will tell. Returns in which scopes messages named the user. */
export const forgetInLogs = ({ guildLogs }: Memory, chatId: ChatId, at: Millis): ReadonlyArray<Pid> =>
  [...guildLogs.values()].flatMap((log) => {
    log.entries = log.entries.filter(({ entry }) => entry.chatId !== chatId);
    return [...log.messages.values()].flatMap((message) => {
      const lines = linesWithoutUser(message.lines, chatId);
      if (lines === null) return [];
      const erasedAt = message.erasedAt ?? at;
      log.messages.set(message.messageId, { ...message, lines, editAt: at, erasedAt });
      return [log.pid];
    });
  });
