/** Replaces the time and the random numbers, which would make runs differ, and turns off stack traces. */
import { newUlid } from "@accountlink/core/ids";
import type { Chance } from "./chance.ts";

export interface Clocks {
  readonly wall: () => number;
  readonly monotonic: () => number;
}

const idle = { idle: 0, active: 0, utilization: 0 };

/** Replaces the globals until the returned function is called. */
export const takeOver = (clocks: Clocks, chance: Chance): (() => void) => {
  const { now } = Date;
  const errors = Error as typeof Error & { stackTraceLimit?: number | undefined };
  const { stackTraceLimit } = errors;
  const fills = { count: 0 };
  Date.now = clocks.wall;
  Object.defineProperty(performance, "now", { value: clocks.monotonic, configurable: true });
  // Simulated work takes no time.
  Object.defineProperty(performance, "eventLoopUtilization", { value: () => idle, configurable: true });
  Object.defineProperty(crypto, "getRandomValues", {
    value: <View extends ArrayBufferView>(view: View) => {
      fills.count++;
      return chance.fill(view);
    },
    configurable: true,
  });
  // Every refused request creates an error, and capturing its stack takes longer than the request.
  errors.stackTraceLimit = 0;
  // `newUlid` keeps a pool of random bytes. Use up the bytes that remain from an earlier simulation.
  while (fills.count === 0) newUlid(0);
  return () => {
    Date.now = now;
    Reflect.deleteProperty(performance, "now");
    Reflect.deleteProperty(performance, "eventLoopUtilization");
    Reflect.deleteProperty(crypto, "getRandomValues");
    errors.stackTraceLimit = stackTraceLimit;
  };
};
