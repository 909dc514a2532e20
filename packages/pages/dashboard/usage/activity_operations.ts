import { OwnedKeys } from "@accountlink/core";
import { type AuditEntry, keyOf, signedBy } from "@accountlink/core/audit";
import { type Account, shownName } from "@accountlink/core/keys";
import { makeOwnedAudit } from "@accountlink/core/owners";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { makeUsageDays } from "@accountlink/core/usage";
import { DashboardActivity } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeOperation } from "../api_pipeline.ts";

export const activityApi = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const keys = yield* OwnedKeys;
  const usage = yield* makeUsageDays;
  const entriesOf = yield* makeOwnedAudit;

  return [
    operation(DashboardActivity.getUsage, function* ({ owner, values: { keyId, days } }) {
      const { account } = owner;
      const key = keyId === null ? null : yield* keys.find(owner, keyId);
      const found = yield* usage.of(key === null ? { account: account.name } : { key: key.id }, days);
      return { days: found };
    }),

    operation(
      DashboardActivity.getAudit,
      function* ({ owner, role, values: { keyId, chatId, action, cursor, limit } }) {
        const key = keyId === null ? null : yield* keys.find(owner, keyId);
        const filter = { action, keyId: key && key.id, chatId };
        const { entries, next } = yield* entriesOf({ owner, role }, cursor, limit, filter);
        return {
          entries: entries.map((entry) => toJson(entry, owner.account)),
          next: next === null ? null : String(next),
        };
      },
    ),
  ];
});

const toJson = (entry: AuditEntry, account: Account) => {
  const { sequence, at, action, requestId, details } = entry;
  const { actor, member } = signedBy(entry);
  const isAccount = actor.type === "account" && actor.id === account.name;
  return {
    id: String(sequence),
    at: formatTimestamp(at),
    action,
    actor: isAccount ? { ...actor, id: shownName(account) } : actor,
    member,
    keyId: keyOf(entry),
    requestId,
    details,
  };
};
