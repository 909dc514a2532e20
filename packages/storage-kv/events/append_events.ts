import type { Pid } from "@accountlink/core";
import type { NewEvent } from "@accountlink/core/events";
import { Effect } from "effect";
import { events } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

/** Appends to the feed of a scope, in the transaction of the change. */
export const appendEvents = (tx: Transaction, pid: Pid, added: ReadonlyArray<NewEvent>) =>
  Effect.forEach(
    added,
    (event) => events.add(tx, { pid, event: { ...event, position: tx.nextSequence() } }),
    { discard: true },
  );
