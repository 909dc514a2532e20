import { BaseSequencer, type TestSpecification } from "vitest/node";
import { testProjects } from "./run_vitest.ts";

/** What takes longest, in that order; then the folders whose tests wait. */
const longest = [
  "test/start/shutdown_test.ts",
  "test/operating/erasure_test.ts",
  "test/operating/first_hour_test.ts",
  "test/client/sessions_test.ts",
  "test/browser/dashboard_pages_test.ts",
  "test/browser/docs_page_test.ts",
  "test/operating/balancer_test.ts",
  "test/browser/flow_refusals_test.ts",
  "test/browser/flow_pages_test.ts",
  "test/client/client_test.ts",
  "test/start/fresh_clone_test.ts",
  "test/faults/kill_test.ts",
  "test/faults/three_nodes_test.ts",
  "packages/sql/postgres/client/pool_test.ts",
  "packages/sql/postgres/outage_test.ts",
  "packages/sql/postgres/stores_test.ts",
  "packages/sql/postgres/plans_test.ts",
  "packages/sql/postgres/partitions_test.ts",
  "packages/client/client_test.ts",
  "test/docs/code_examples_test.ts",
  "test/contract/coverage_test.ts",
  "test/operating/",
  "test/faults/",
  "test/browser/",
  "test/client/",
  "test/docs/",
  "test/edges/",
  "test/start/",
  "packages/sql/",
  "packages/redis/",
  "apps/",
];

/** Projects and files that are not listed come last. */
const placeOf = ({ project, moduleId }: TestSpecification): number => {
  const places = [
    testProjects.findIndex((name) => name === project.name),
    longest.findIndex((path) => moduleId.includes(`/${path}`)),
  ];
  const [projectPlace = 0, filePlace = 0] = places.map((place) => (place === -1 ? longest.length : place));
  return projectPlace * 1_000 + filePlace;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
