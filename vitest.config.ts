import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { isProof } from "./test/servers/is_proof.ts";

const seconds = 1_000;
const minutes = 60 * seconds;

/** Contract tests whose results do not depend on the storage, so they need not run on memory, Postgres and Redis. */
const independentOfStorage = [
  ...configDefaults.exclude,
  "test/contract/{compression,https,no_platforms,parameters,paths,translations}_test.ts",
];

const contract = { include: ["test/contract/**/*_test.ts"] };

/**
 * The paths of test files that are short but take long, because they run suites or other modules of tests. These files
 * start first, since the sequencer would otherwise start the largest files first.
 */
const longest = /\/(outage|stores|storage_redis|deno_kv|luau|guild_log|reminders)_test\.ts$/;

/**
 * The paths of test files that wait for processes, clocks and browsers. These files run next, so that only short tests
 * are left at the end.
 */
const waiting = /\/(apps|test\/(?!contract)[^/]+|packages\/(client|sql|redis))\//;

const rank = ({ moduleId }: TestSpecification): number =>
  longest.test(moduleId) ? 0 : waiting.test(moduleId) ? 1 : 2;

class WaitingFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- this `sort` is a method of the sequencer, not of an array
    const largestFirst = await super.sort(files);
    return largestFirst.toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // Node, Deno or Bun imports the sources itself, as in production, and vite does not transform them.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ["./tools/expect_runtime.ts"],
    pool: "forks",
    // Tests wait for other processes more than they compute, so many workers can share a processor: on two cores, six
    // take 192 s where four take 216 s.
    maxWorkers: 6,
    // Test files share a worker, so that it imports the sources and starts Postgres only once.
    isolate: false,
    testTimeout: 8 * minutes,
    hookTimeout: 8 * minutes,
    expect: { poll: { timeout: 30 * seconds } },
    sequence: { sequencer: WaitingFirst },
    projects: [
      {
        // All files named `_test.ts` are in this project, because only files of the same project share a worker. A
        // worker takes a second to start.
        extends: true,
        test: {
          name: "node",
          include: ["{apps,packages,test,tools}/**/*_test.ts"],
          // In `npm test`, the suites of the stores in memory run on an engine that yields.
          exclude: isProof
            ? configDefaults.exclude
            : [...configDefaults.exclude, "packages/memory/storage_memory_test.ts"],
          globalSetup: ["test/support/prepare.ts"],
        },
      },
      {
        // The tests of `node` that can run in any runtime. The proof runs them on Deno and Bun.
        extends: true,
        test: {
          name: "portable",
          include: [
            "packages/{client,core,memory,testing}/**/*_test.ts",
            "packages/accountlink/memory_test.ts",
          ],
          // Property tests and tests of bundle sizes have the same results in every runtime, so only `node` runs them.
          exclude: [
            ...configDefaults.exclude,
            "**/*_{races,property,property_suite}_test.ts",
            "packages/testing/arbitraries/arbitraries_test.ts",
            "packages/client/size_test.ts",
          ],
        },
      },
      {
        extends: true,
        test: {
          ...contract,
          name: "contract-memory",
          exclude: independentOfStorage,
          env: { ACCOUNTLINK_TEST_STORAGE: "memory" },
        },
      },
      {
        extends: true,
        test: {
          ...contract,
          name: "contract-postgres-redis",
          exclude: independentOfStorage,
          env: { ACCOUNTLINK_TEST_STORAGE: "postgres" },
        },
      },
      {
        extends: true,
        test: {
          ...contract,
          name: "contract-redis",
          exclude: independentOfStorage,
          env: { ACCOUNTLINK_TEST_STORAGE: "redis" },
        },
      },
      {
        extends: true,
        test: { ...contract, name: "contract-web", env: { ACCOUNTLINK_TEST_SERVER: "web" } },
      },
      {
        extends: true,
        test: {
          name: "proof",
          include: ["test/**/*_proof.ts"],
          fileParallelism: false,
          testTimeout: 60 * minutes,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
