/** The parts of the proof, which can run alone. */

export interface ProofPart {
  /** How long it usually takes on two cores. */
  readonly takes: string;
  readonly proves: string;
  /** The beginnings of the paths of its test files. */
  readonly files: ReadonlyArray<string>;
  /** The projects of `vitest.config.ts` that run them, besides `node` and `proof`. */
  readonly projects?: ReadonlyArray<string>;
}

export const proofParts = {
  units: {
    takes: "10 minutes",
    proves: "modules, the command line and tools, with more random data",
    files: [
      "apps/",
      "tools/",
      "packages/accountlink/",
      "packages/client/",
      "packages/core/",
      "packages/dev-platforms/",
      "packages/http",
      "packages/pages/",
      "packages/platforms/",
    ],
  },
  stores: {
    takes: "40 minutes",
    proves: "every storage and cache with long random histories, outages and deadlocks",
    files: ["packages/kv/", "packages/memory/", "packages/redis/", "packages/sql/", "packages/testing/"],
  },
  contract: {
    takes: "30 minutes",
    proves: "every contract test on every storage, and behind a web handler",
    files: ["test/contract/"],
    projects: ["contract-postgres-redis", "contract-redis", "contract-memory", "contract-web"],
  },
  browser: {
    takes: "20 minutes",
    proves: "every page in each look and language, and the pictures",
    files: ["test/browser/", "test/languages/", "test/pictures/"],
  },
  documents: {
    takes: "20 minutes",
    proves: "every example, recipe and client, and what documents say",
    files: ["test/client/", "test/docs/"],
  },
  packages: {
    takes: "30 minutes",
    proves: "the packed packages in every runtime",
    files: ["test/packages/"],
  },
  operating: {
    takes: "30 minutes",
    proves: "a fresh installation, deploy files, balancers, backups and alarms",
    files: ["test/operating/", "test/start/"],
  },
  faults: {
    takes: "30 minutes",
    proves: "killed, frozen and separated processes, full disks, hostile input",
    files: ["test/edges/", "test/faults/"],
  },
  load: {
    takes: "90 minutes",
    proves: "neighbours under attack, and many waiting clients",
    files: ["test/load/"],
  },
  simulation: {
    takes: "2 hours",
    proves: "a million schedules of whole nodes in virtual time",
    files: ["test/simulation/"],
  },
  runtimes: {
    takes: "10 minutes",
    proves: "the portable packages on Deno and Bun",
    files: [],
  },
} as const satisfies Record<string, ProofPart>;

export type ProofPartName = keyof typeof proofParts;
