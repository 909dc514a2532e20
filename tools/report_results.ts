/** A reporter of vitest that writes the results of a run for `run_vitest.ts`. */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import type { FileResults } from "./results.ts";

export const resultsVariable = "ACCOUNTLINK_TEST_RESULTS";

/** Vitest loads the default export. */
export default class ResultsReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const file = process.env[resultsVariable];
    if (file !== undefined) writeFileSync(file, JSON.stringify(modules.map(resultsOf)));
  }
}

const resultsOf = (module: TestModule): FileResults => {
  const { relativeModuleId: file, project } = module;
  const tests = [...module.children.allTests()];
  const inState = (state: string) => tests.filter((test) => test.result().state === state);
  // A file that cannot be loaded, or a hook that fails, keeps tests from running.
  const broken = [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0);
  const failures = [
    ...broken.map((part) => (part.type === "module" ? "" : part.fullName)),
    ...inState("failed").map(({ fullName }) => fullName),
  ].map((name) => `${project.name} ${file}: ${name}`);
  return {
    project: project.name,
    file,
    passed: inState("passed").length,
    failed: failures.length,
    skipped: inState("skipped").length,
    failures,
  };
};
