import type { Pid } from "@accountlink/core";
import { Effect } from "effect";
import { scopes } from "../records/collections.ts";
import type { Transaction } from "../records/transaction.ts";

/** The scope; a defect if it does not exist. */
export const requireScope = Effect.fnUntraced(function* (tx: Transaction, pid: Pid) {
  const scope = yield* scopes.find(tx, pid);
  if (scope === undefined) throw new Error(`Cannot write to scope "${pid}", expected one that exists`);
  return scope;
});
