/** A transaction that another one has overtaken, and how soon it runs again. */
import { StoreUnavailable } from "@accountlink/core/errors";
import { Effect } from "effect";
import { pauseFor } from "./long_lists.ts";

/** What a transaction has read was replaced before its end. */
class Overtaken extends Error {
  override readonly message = "Cannot end a transaction: what it read was replaced";
}

export const overtaken = (operation: string) => new StoreUnavailable({ operation, cause: new Overtaken() });

export const isOvertaken = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && error.cause instanceof Overtaken;

/** How often a transaction runs before it fails as if the store were unavailable. */
export const mostRuns = 100;

/** The most milliseconds before the next run. */
const longestPause = 100;

export const pauseAfter = (run: number): Effect.Effect<void> =>
  run < 3 ? Effect.yieldNow : pauseFor(Math.random() * Math.min(longestPause, 2 ** run));
