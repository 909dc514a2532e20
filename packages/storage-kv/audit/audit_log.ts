import { AuditLog } from "@accountlink/core";
import { type AuditEntry, passesFilter } from "@accountlink/core/audit";
import { Effect, Layer } from "effect";
import { Database } from "../records/database.ts";
import { entries } from "../records/schema.ts";
import { forget, stepSize } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

type List = Parameters<AuditLog["Service"]["list"]>;

export const layer: Layer.Layer<AuditLog, never, Database> = Layer.effect(
  AuditLog,
  Effect.map(Database, (db) =>
    AuditLog.of({
      list: (...args) => db.read("AuditLog.list", (tx) => list(tx, ...args)),
      forget: (before) => forget(db, "AuditLog.forget", entries, ["time"], ({ at }) => at < before),
    }),
  ),
);

const list = Effect.fnUntraced(function* (
  tx: Transaction,
  account: List[0],
  before: List[1],
  limit: List[2],
  filter: List[3],
) {
  const listed: Array<AuditEntry> = [];
  let last = before;
  const { chatId = null } = filter ?? {};
  const [index, within] =
    chatId === null ? ["account" as const, [account]] : ["user" as const, [account, chatId]];
  while (listed.length < limit) {
    const after = last === null ? {} : { after: [...within, -last] };
    const page = yield* entries.list(tx, index, within, {
      ...after,
      limit: Math.max(limit, stepSize),
    });
    listed.push(...page.filter((entry) => passesFilter(entry, filter)));
    last = page.at(-1)?.sequence ?? null;
    if (last === null) break;
  }
  return listed.slice(0, limit);
});
