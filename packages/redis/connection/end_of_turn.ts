const due: Array<() => void> = [];

/**
 * Runs a function when this turn of the event loop ends. Functions that are added meanwhile run
 * before the next turn.
 */
export const atEndOfTurn = (run: () => void): void => {
  if (due.push(run) === 1) setImmediate(runDue);
};

const runDue = (): void => {
  for (const run of due) run();
  due.length = 0;
};
