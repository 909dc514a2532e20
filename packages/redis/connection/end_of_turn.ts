const due: Array<() => void> = [];

/**
 * Runs a function at the end of this turn of the event loop. If the function adds another function, that one also runs
 * before the next turn.
 */
export const atEndOfTurn = (run: () => void): void => {
  if (due.push(run) === 1) setImmediate(runDue);
};

const runDue = (): void => {
  for (const run of due) run();
  due.length = 0;
};
