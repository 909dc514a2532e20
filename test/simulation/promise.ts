/** The type of a check, which finds broken promises of the service, and functions that several checks use. */

import type { Records } from "./behaviour.ts";
import type { Sent } from "./client.ts";

export interface Broken {
  readonly promise: string;
  readonly how: string;
}

export type Check = (records: Records) => ReadonlyArray<Broken>;

/**
 * The checks accept an answer this many milliseconds after the promised time, because messages and fibers take time.
 */
export const slack = 400;

/** Whether a retry with the same idempotency key gets the same answer. */
export const isFinal = ({ outcome }: Sent): boolean =>
  outcome.kind === "answered" && !outcome.answer.text.includes("idempotency_key_in_use");

/**
 * Returns for how many milliseconds the faults between `from` and `to` may delay an answer. A fault of Redis delays it
 * only briefly, and lost signals do not delay it.
 */
export const disturbance = ({ deployment }: Records, from: number, to: number): number =>
  deployment.faults
    .filter(({ kind, ...fault }) => kind !== "signals lost" && fault.from < to && fault.to + 3_000 > from)
    .reduce((sum, fault) => sum + (/Redis/.test(fault.kind) ? 1_500 : fault.to - fault.from + 3_000), 0);
