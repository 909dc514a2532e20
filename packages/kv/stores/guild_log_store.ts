import { GuildLogStore, messageTime, mostMessages, mostWaiting } from "@accountlink/core/guild_log";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Struct } from "effect";
import { removeInSteps, stepSize } from "../steps.ts";
import { forgetInLogs, guildLogs, logEntries, logMessages } from "./guild_logs.ts";
import { holdItems } from "./leases.ts";
import { planProblems, plans } from "./role_plans.ts";
import { withScope } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

export const layer = storeLayer(GuildLogStore, (db) => ({
  add: (pid, entry, at) =>
    Effect.gen(function* () {
      const logs = yield* db.read((tx) => tx.scan(guildLogs, [pid]));
      // A scope has any number of logs, so each has a transaction of its own.
      for (const { guildId } of logs.filter(({ channelId }) => channelId !== null)) {
        yield* db.write(pid, function* (tx) {
          const { channelId = null, time = 0 } = (yield* tx.get(guildLogs, pid, guildId)) ?? {};
          const waiting = yield* tx.count(logEntries, [pid, guildId, time]);
          if (channelId === null || waiting >= mostWaiting(entry)) return;
          const [last] = yield* tx.scan(logEntries, [pid, guildId, time], { reverse: true, limit: 1 });
          yield* tx.put(logEntries, { pid, guildId, time, id: (last?.id ?? 0) + 1, entry, at });
        });
      }
    }),

  hold: (hold) =>
    holdItems(db, "guild logs", guildLogs, hold, function* (tx, log) {
      const { pid, guildId, scope, time } = log;
      const plan = yield* tx.get(plans, pid, guildId);
      const newest = plan && (yield* tx.list(planProblems.newest, [plan.ref], { limit: 1 }))[0];
      const [waiting] = yield* tx.scan(logEntries, [pid, guildId, time], { limit: 1 });
      const [edited] = yield* tx.list(logMessages.edits, [pid, guildId], { limit: 1 });
      return {
        ...Struct.pick(log, ["guildId", "channelId", "position", "closedAt", "problems"]),
        scope: yield* withScope(tx, scope),
        problemAt: newest === undefined ? null : Math.max(...newest.problems.map(({ at }) => at)),
        waitsSince: waiting?.at ?? null,
        editAt: edited?.editAt ?? null,
      };
    }),

  waiting: ({ pid, guildId }, limit) =>
    db.read(function* (tx) {
      const { time = 0 } = (yield* tx.get(guildLogs, pid, guildId)) ?? {};
      const found = yield* tx.scan(logEntries, [pid, guildId, time], { limit });
      return found.map(({ id, entry, at }) => ({ id, entry, at }));
    }),

  record: ({ node, at, position, told, problems, message, closedAt, pid, guildId }) =>
    Effect.gen(function* () {
      const isHeld = yield* db.write(pid, function* (tx) {
        const log = yield* tx.get(guildLogs, pid, guildId);
        if (log !== undefined && message !== null) {
          assertStorable([message.channelId, message.messageId, JSON.stringify(message.lines)]);
          if ((yield* tx.get(logMessages, pid, guildId, message.messageId)) === undefined) {
            yield* tx.put(logMessages, { ...message, pid, guildId, at, erasedAt: null, editAt: null });
          }
        }
        if (log?.holder !== node) return false;
        yield* tx.getAll(logEntries, told, (id) => [pid, guildId, log.time, id]);
        for (const id of told) yield* tx.remove(logEntries, pid, guildId, log.time, id);
        yield* tx.put(guildLogs, { ...log, position, problems, closedAt });
        return true;
      });
      const beyond = yield* db.read(function* (tx) {
        const count = yield* tx.count(logMessages.byTime, [pid, guildId]);
        const options = { limit: Math.max(0, count - mostMessages) };
        const last = (yield* tx.list(logMessages.byTime, [pid, guildId], options)).at(-1);
        return Math.max(last?.at ?? -1, at - messageTime);
      });
      yield* removeInSteps(
        db,
        logMessages.byTime,
        [pid, guildId],
        { before: [beyond + 1] },
        ({ editAt }) => editAt === null,
      );
      return isHeld;
    }),

  dueEdits: ({ pid, guildId }, at, limit) =>
    db.read(function* (tx) {
      const found = yield* tx.list(logMessages.edits, [pid, guildId], { before: [at + 1], limit });
      return found.flatMap(({ channelId, messageId, lines, erasedAt }) =>
        erasedAt === null ? [] : [{ channelId, messageId, lines, erasedAt }],
      );
    }),

  settleEdit: ({ pid, guildId }, { messageId, lines }, retryAt) =>
    db.write(pid, function* (tx) {
      const stored = yield* tx.get(logMessages, pid, guildId, messageId);
      const isSettled = stored === undefined || stored.editAt === null;
      if (isSettled || JSON.stringify(stored.lines) !== JSON.stringify(lines)) return;
      const erasedAt = retryAt === null ? null : stored.erasedAt;
      yield* tx.put(logMessages, { ...stored, editAt: retryAt, erasedAt });
      if (retryAt !== null) return;
      const log = yield* tx.get(guildLogs, pid, guildId);
      if (log !== undefined) yield* tx.put(guildLogs, { ...log, edits: log.edits - 1 });
    }),

  forgetUser: (chatId, at) =>
    Effect.gen(function* () {
      let isMore = true;
      while (isMore) {
        ({ isMore } = yield* db.write(chatId, (tx) => forgetInLogs(tx, chatId, at, stepSize)));
      }
    }),
}));
