import type { Millis } from "../timestamp.ts";

/**
 * Makes a function that returns a number of up to 15 digits, greater than all it returned before, and greater than those
 * of other processes as far as the clocks agree. It keeps `count` numbers free from there on.
 */
export const timedNumbers = () => {
  let next = 1;
  return (now: Millis, count = 1): number => {
    const first = Math.max(next, now * 100);
    next = first + count;
    return first;
  };
};
