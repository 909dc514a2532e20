/** How long to wait before a worker that ended is replaced. */

/** In milliseconds. */
const shortest = 100;
const longest = 10_000;

/** A worker that ran for longer did not end because of how it was started, in milliseconds. */
const longRun = 60_000;

/**
 * Doubles with each worker in a row that did not last.
 *
 * @param failures how many there were before
 * @param lasted how long this one ran, in milliseconds
 */
export const replacementDelay = (
  failures: number,
  lasted: number,
): { readonly delay: number; readonly failures: number } => {
  const inARow = lasted > longRun ? 0 : failures;
  return { delay: Math.min(longest, shortest * 2 ** inARow), failures: inARow + 1 };
};
