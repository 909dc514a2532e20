import { AuditLog } from "@accountlink/core";
import { type AuditEntry, type AuditFilter, usersOf } from "@accountlink/core/audit";
import { Effect, Layer } from "effect";
import { State } from "./state/state.ts";

export const layer: Layer.Layer<AuditLog, never, State> = Layer.effect(
  AuditLog,
  Effect.map(State, (memory) =>
    AuditLog.of({
      list: (account, before, limit, filter) =>
        Effect.sync(() => {
          const log = memory.log.get(account) ?? [];
          const end =
            before === null ? log.length : log.findLastIndex(({ sequence }) => sequence < before) + 1;
          const listed = log.slice(0, end).filter((entry) => passesFilter(entry, filter));
          return listed.slice(Math.max(0, listed.length - limit)).toReversed();
        }),

      forget: (before) =>
        Effect.sync(() => {
          let forgotten = 0;
          for (const [account, log] of memory.log) {
            const kept = log.filter(({ at }) => at >= before);
            forgotten += log.length - kept.length;
            memory.log.set(account, kept);
          }
          return forgotten;
        }),
    }),
  ),
);

const passesFilter = (
  entry: AuditEntry,
  { action, keyId, chatId = null, pid = null, readable = null }: AuditFilter = { action: null, keyId: null },
): boolean => {
  const { actor, details } = entry;
  return (
    (action === null || entry.action === action) &&
    (readable === null || readable.includes(entry.action)) &&
    (pid === null || entry.pid === pid) &&
    (chatId === null || usersOf(entry).includes(chatId)) &&
    (keyId === null || details["keyId"] === keyId || (actor.type === "key" && actor.id === keyId))
  );
};
