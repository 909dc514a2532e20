export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: ReadonlyArray<string>;
  /** The tests that failed at first and passed when their file was run again. */
  readonly flaky: ReadonlyArray<string>;
}

export interface FileResults extends Omit<Results, "flaky"> {
  readonly project: string;
  readonly file: string;
}

/** The results of files, of which some were run again. */
export const resultsOfFiles = (
  files: ReadonlyArray<FileResults>,
  again: ReadonlyArray<FileResults> = [],
): Results =>
  combine(
    files.map((first) => {
      const second = again.find(({ project, file }) => project === first.project && file === first.file);
      const { passed, failed, skipped, failures } = second ?? first;
      const flaky = first.failures.filter((name) => !failures.includes(name));
      return { passed, failed, skipped, failures, flaky };
    }),
  );

export const combine = (runs: ReadonlyArray<Results>): Results => ({
  passed: runs.reduce((total, run) => total + run.passed, 0),
  failed: runs.reduce((total, run) => total + run.failed, 0),
  skipped: runs.reduce((total, run) => total + run.skipped, 0),
  failures: runs.flatMap(({ failures }) => failures),
  flaky: runs.flatMap(({ flaky }) => flaky),
});

/** Prints what failed and the totals, and sets the exit code. */
export const finish = ({ passed, failed, skipped, failures, flaky }: Results): void => {
  for (const test of flaky) console.log(`Passed only when run again: ${test}`);
  for (const failure of failures) console.log(`Failed: ${failure}`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
};
