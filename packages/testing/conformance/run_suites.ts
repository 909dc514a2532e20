/** Runs suites without a test framework, one case after the other. */
import type { TestApi } from "./suite.ts";

/** The result of a case, which passed, failed or was skipped. */
export interface CaseResult {
  readonly suite: string;
  readonly title: string;
  /** Why the case failed; null if it passed. */
  readonly failure: unknown;
  /** Why the case was skipped; null if it ran. */
  readonly skipped: string | null;
}

export interface RunOptions {
  /** Whether to run the suite of this name. */
  readonly includes?: (suite: string) => boolean;
  /** The time limit of a case in milliseconds; a minute by default. */
  readonly timeout?: number;
}

interface Suite {
  readonly name: string;
  readonly cases: Array<{ readonly title: string; readonly body: () => Promise<void> }>;
  readonly skipped: Array<string>;
  readonly cleanups: Array<() => Promise<void>>;
}

/**
 * Runs the suites that a function registers, and yields each result at once.
 *
 * @example
 * ```ts
 * import { linkStoreSuite, runSuites, type TestApi } from "@accountlink/testing/conformance";
 * import { StorageMemory } from "@accountlink/memory";
 *
 * const register = (test: TestApi) => linkStoreSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * const failures: Array<string> = [];
 * for await (const { title, failure } of runSuites(register)) if (failure !== null) failures.push(title);
 * failures; // []
 * ```
 */
export async function* runSuites(
  register: (test: TestApi) => void,
  { includes = () => true, timeout = 60_000 }: RunOptions = {},
): AsyncGenerator<CaseResult> {
  const suites: Array<Suite> = [];
  const last = () => suites.at(-1) as Suite;
  /** What to clean up after all suites. */
  const cleanups: Suite["cleanups"] = [];
  let isInSuite = false;
  register({
    describe: (name, body) => {
      suites.push({ name, cases: [], skipped: [], cleanups: [] });
      isInSuite = true;
      body();
      isInSuite = false;
    },
    it: Object.assign((title: string, body: () => Promise<void>) => last().cases.push({ title, body }), {
      skip: (title: string) => last().skipped.push(title),
    }),
    afterAll: (body) => (isInSuite ? last().cleanups : cleanups).push(body),
  });
  try {
    for (const suite of suites.filter(({ name }) => includes(name))) yield* resultsOf(suite, timeout);
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

async function* resultsOf(
  { name: suite, cases, skipped, cleanups }: Suite,
  timeout: number,
): AsyncGenerator<CaseResult> {
  try {
    for (const title of skipped) yield { suite, title, failure: null, skipped: title };
    for (const { title, body } of cases) {
      yield { suite, title, failure: await failureOf(body, timeout), skipped: null };
    }
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

const failureOf = async (body: () => Promise<void>, timeout: number): Promise<unknown> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<unknown>((resolve) => {
    const error = new Error(`The case has not ended, expected an end within ${timeout / 1_000} seconds`);
    timer = setTimeout(() => resolve(error), timeout);
  });
  const run = body().then(
    () => null,
    (error: unknown) => error ?? new Error("The case failed"),
  );
  try {
    return await Promise.race([run, late]);
  } finally {
    clearTimeout(timer);
  }
};
