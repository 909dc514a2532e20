import { AuditLog, type KeyId } from "@accountlink/core";
import { type AuditEntry, type AuditFilter, usersOf } from "@accountlink/core/audit";
import { layerOf } from "./state/state.ts";

export const layer = layerOf(AuditLog, (memory) => ({
  list: (account, before, limit, filter) => {
    const log = memory.log.get(account) ?? [];
    const end = before === null ? log.length : log.findLastIndex(({ sequence }) => sequence < before) + 1;
    const listed = log.slice(0, end).filter((entry) => passesFilter(entry, filter));
    return listed.slice(Math.max(0, listed.length - limit)).toReversed();
  },

  forget: (before) => {
    let forgotten = 0;
    for (const [account, log] of memory.log) {
      const kept = log.filter(({ at }) => at >= before);
      forgotten += log.length - kept.length;
      memory.log.set(account, kept);
    }
    return forgotten;
  },
}));

const passesFilter = (
  entry: AuditEntry,
  { action, keyId, chatId = null, pid = null, readable = null }: AuditFilter = { action: null, keyId: null },
): boolean => {
  if (action !== null && entry.action !== action) return false;
  if (readable !== null && !readable.includes(entry.action)) return false;
  if (pid !== null && entry.pid !== pid) return false;
  if (chatId !== null && !usersOf(entry).includes(chatId)) return false;
  return keyId === null || entry.details["keyId"] === keyId || isBy(entry, keyId);
};

const isBy = ({ actor }: AuditEntry, keyId: KeyId): boolean => actor.type === "key" && actor.id === keyId;
