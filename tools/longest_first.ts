/** The order of the test files of a run. */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { testProjects } from "./run_vitest.ts";

/** The files that take longest, in that order. */
const longest = [
  "test/operating/workers_test.ts",
  "test/start/shutdown_test.ts",
  "test/operating/erasure_test.ts",
  "test/client/sessions_test.ts",
  "test/e2e/dashboard_pages_test.ts",
  "test/e2e/docs_page_test.ts",
  "test/operating/balancer_test.ts",
  "test/packages/packages_test.ts",
  "test/e2e/flow_refusals_test.ts",
  "test/e2e/flow_pages_test.ts",
  "test/operating/alerts_test.ts",
  "test/client/client_test.ts",
  "test/start/fresh_clone_test.ts",
  "test/load/waiters_test.ts",
  "test/faults/idempotency_test.ts",
  "test/faults/three_nodes_test.ts",
  "test/faults/nodes_test.ts",
  "packages/storage-sql/postgres/client/pool_test.ts",
  "packages/storage-sql/postgres/outage_test.ts",
  "packages/storage-sql/postgres/stores_test.ts",
  "packages/storage-sql/postgres/plans_test.ts",
  "packages/storage-sql/postgres/partitions_test.ts",
  "packages/client/client_test.ts",
  "tools/doc_examples_test.ts",
  "test/contract/coverage_test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

/** Projects and files that are not listed come last. */
const placeOf = ({ project, moduleId }: TestSpecification): number => {
  const place = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
  const [projectPlace, filePlace] = [testProjects.findIndex((name) => name === project.name), place].map(
    (found) => (found === -1 ? longest.length : found),
  );
  return (projectPlace ?? 0) * 1_000 + (filePlace ?? 0);
};
