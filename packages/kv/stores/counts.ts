import { Effect } from "effect";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";

interface Count {
  readonly name: string;
  readonly last: number;
}

export const counts = table<Count>()("count", ({ name }) => [name], {});

/** Returns a greater number than before for a name. */
export const nextNumber = Effect.fnUntraced(function* (tx: Transaction, name: string) {
  const last = ((yield* tx.get(counts, name))?.last ?? 0) + 1;
  yield* tx.put(counts, { name, last });
  return last;
});
