/** A check, and what checks share. */
import type { Sent } from "./client.ts";
import type { Records } from "./clients.ts";

/** A promise that was not kept, and how. */
export interface Broken {
  readonly promise: string;
  readonly how: string;
}

export type Check = (records: Records) => ReadonlyArray<Broken>;

/** How long messages and fibers may take besides what is promised, in milliseconds. */
export const slack = 400;

/** Whether it is an answer for good. */
export const isFinal = ({ outcome }: Sent): boolean =>
  outcome.kind === "answered" && !outcome.answer.text.includes("idempotency_key_in_use");

/** Whether a fault of such a name happened. */
export const hasFault = ({ deployment }: Records, name: RegExp): boolean =>
  deployment.faults.some(({ kind }) => name.test(kind));

/**
 * How long faults may delay what happens between two moments, in milliseconds. Nobody waits for Redis for long, and
 * for signals not at all.
 */
export const disturbance = ({ deployment }: Records, from: number, to: number): number =>
  deployment.faults
    .filter(({ kind, ...fault }) => kind !== "signals lost" && fault.from < to && fault.to + 3_000 > from)
    .reduce((sum, fault) => sum + (/Redis/.test(fault.kind) ? 1_500 : fault.to - fault.from + 3_000), 0);
