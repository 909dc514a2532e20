import type { FlowId } from "@accountlink/core/ids";
import { Effect } from "effect";
import { challenges, flows } from "../records/collections.ts";
import type { Transaction } from "../records/transaction.ts";

/** Removes a flow with its challenges. */
export const endFlow = Effect.fnUntraced(function* (tx: Transaction, id: FlowId) {
  yield* flows.remove(tx, id);
  for (const { stateHash } of yield* challenges.list(tx, "flow", [id]))
    yield* challenges.remove(tx, stateHash);
});
