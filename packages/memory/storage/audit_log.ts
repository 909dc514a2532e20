import { AuditLog } from "@accountlink/core";
import { type AuditEntry, type AuditFilter, signedBy, usersOf } from "@accountlink/core/audit";
import { layerOf } from "./state.ts";

export const layer = layerOf(AuditLog, (memory) => ({
  list: (account, before, limit, filter) =>
    memory.log
      .filter((entry) => entry.account === account && entry.sequence < (before ?? Infinity))
      .filter((entry) => passesFilter(entry, filter))
      .toReversed()
      .slice(0, limit),

  forget: (before) => {
    const { length } = memory.log;
    memory.log = memory.log.filter(({ at }) => at >= before);
    return length - memory.log.length;
  },
}));

const passesFilter = (entry: AuditEntry, filter: AuditFilter = { action: null, keyId: null }): boolean => {
  const { action, keyId, chatId, pid = null, readable = null, member, during } = filter;
  if (action !== null && entry.action !== action) return false;
  if (readable !== null && !readable.includes(entry.action)) return false;
  if (pid !== null && entry.pid !== pid) return false;
  if (!isAbout(entry, chatId) || !isBy(entry, member) || !isIn(entry, during)) return false;
  return keyId === null || keysOf(entry).includes(keyId);
};

const isAbout = (entry: AuditEntry, chatId: AuditFilter["chatId"] = null): boolean =>
  chatId === null || usersOf(entry).includes(chatId);

const isBy = (entry: AuditEntry, member: AuditFilter["member"] = null): boolean =>
  member === null || signedBy(entry).member === member;

const isIn = ({ at }: AuditEntry, during: AuditFilter["during"] = null): boolean =>
  during === null || (at >= during.from && at < during.before);

const keysOf = ({ actor, details }: AuditEntry) => [details["keyId"], actor.type === "key" ? actor.id : null];
