/** What code takes from the runtime itself: the time, chance, and the stacks of errors. */
import { newUlid } from "@accountlink/core/ulid";
import type { Chance } from "./chance.ts";

export interface Clocks {
  readonly wall: () => number;
  readonly monotonic: () => number;
}

/** Replaces them by those of a world, until the returned function is called. */
export const takeOver = (clocks: Clocks, chance: Chance): (() => void) => {
  const { now } = Date;
  const errors = Error as typeof Error & { stackTraceLimit?: number | undefined };
  const { stackTraceLimit } = errors;
  const fills = { count: 0 };
  Date.now = clocks.wall;
  Object.defineProperty(performance, "now", { value: clocks.monotonic, configurable: true });
  Object.defineProperty(crypto, "getRandomValues", {
    value: <View extends ArrayBufferView>(view: View) => {
      fills.count++;
      return chance.fill(view);
    },
    configurable: true,
  });
  // Refusals are errors, and to write down a stack takes longer than to refuse.
  errors.stackTraceLimit = 0;
  // ULIDs have a pool of random bytes, with some of the last world.
  while (fills.count === 0) newUlid(0);
  return () => {
    Date.now = now;
    Reflect.deleteProperty(performance, "now");
    Reflect.deleteProperty(crypto, "getRandomValues");
    errors.stackTraceLimit = stackTraceLimit;
  };
};
