/** A reporter of vitest that writes the results of a run for `run_vitest.ts`. */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import type { Results } from "./results.ts";

/** The file for the results. */
export const resultsVariable = "ACCOUNTLINK_TEST_RESULTS";

/** Vitest loads the default export. */
export default class ResultsReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const named = (chosen: typeof tests) =>
      chosen.map(({ module, fullName }) => `${module.project.name} ${module.relativeModuleId}: ${fullName}`);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    // A file that cannot be loaded, or a hook that fails, keeps tests from running.
    const broken = modules
      .flatMap((module) => [module, ...module.children.allSuites()])
      .filter((part) => part.errors().length > 0)
      .map((part) =>
        part.type === "module" ? part.relativeModuleId : `${part.module.relativeModuleId}: ${part.fullName}`,
      );
    const failures = [...broken, ...named(inState("failed"))];
    const results: Results = {
      passed: inState("passed").length,
      failed: failures.length,
      skipped: inState("skipped").length,
      failures,
      flaky: named(tests.filter((test) => test.diagnostic()?.flaky)),
    };
    const file = process.env[resultsVariable];
    if (file !== undefined) writeFileSync(file, JSON.stringify(results));
  }
}
