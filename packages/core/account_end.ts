/** The close of accounts in any storage, in the transactions of several stores. */
import { Effect, Predicate } from "effect";
import type { KeyId } from "./ids.ts";
import type { KnownAccount, Tx } from "./records/records.ts";
import { pausePlans } from "./stored_role_plans.ts";
import type { Millis } from "./timestamp.ts";
import { webhookRecords } from "./webhooks/webhook.ts";

/** The queue of writes to an account. Anybody may name an account, so that the name has a prefix. @internal */
export const accountQueue = (name: string): string => `account ${name}`;

/** The keys that a step changed, while more of the account is to be changed. */
export interface Unfinished {
  readonly unfinished: ReadonlyArray<KeyId>;
}

/** Repeats a change of an account until nothing is left to change. @internal */
export const changeInSteps = Effect.fnUntraced(function* <A, E>(
  change: (before: ReadonlyArray<KeyId>) => Effect.Effect<A | Unfinished, E>,
) {
  const before: Array<KeyId> = [];
  for (;;) {
    const changed = yield* change(before);
    if (!Predicate.hasProperty(changed, "unfinished")) return changed;
    before.push(...changed.unfinished);
  }
});

/** Pauses webhooks and role plans of an account until the step is over. Returns whether more are left. @internal */
export const pauseAll = Effect.fnUntraced(function* (
  tx: Tx,
  account: string,
  at: Millis,
  isOver: () => boolean = tx.isFull,
) {
  for (const { id, status } of yield* tx.ofAccount(webhookRecords, account)) {
    if (status !== "active") continue;
    if (isOver()) return true;
    const webhook = yield* tx.get(webhookRecords, id);
    if (webhook?.status !== "active") continue;
    yield* tx.put(webhookRecords, { ...webhook, status: "paused", failingSince: null });
  }
  return yield* pausePlans(tx, account, at, isOver);
});

/** Revokes keys of an account, and pauses webhooks and role plans, until the step is over. @internal */
export const closeAccount = Effect.fnUntraced(function* (
  tx: Tx,
  account: KnownAccount,
  at: Millis,
  isOver: () => boolean = tx.isFull,
) {
  if (yield* pauseAll(tx, account.name, at, isOver)) return { revoked: [], isMore: true };
  return yield* tx.revokeKeys(account, at, isOver);
});
