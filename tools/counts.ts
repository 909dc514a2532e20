/** The results of a run of checks or tests. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const sum = (runs: ReadonlyArray<Counts>): Counts => ({
  passed: runs.reduce((total, run) => total + run.passed, 0),
  failed: runs.reduce((total, run) => total + run.failed, 0),
  skipped: runs.reduce((total, run) => total + run.skipped, 0),
});

/** Prints the totals and sets the exit code. */
export const finish = ({ passed, failed, skipped }: Counts): void => {
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
};
