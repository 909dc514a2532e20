import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** What Deno KV cannot keep: keys of more than 2 KiB, which the service never makes, and a large import in one commit. */
const failing = [
  "Deno: LinkStore: readers never see a partial batch",
  "Deno: KeyStore: account names keep every Unicode text distinct",
  "Deno: DayCounts: keys keep every Unicode text distinct; unstorable text is a defect",
  "Deno: SightingStore: hashes, ciphertexts and key IDs keep every Unicode text; unstorable text is a defect",
];

/** Fails if the interruption falls between two commits of an import. */
const timed =
  "Deno: LinkStore: an interrupted importBatch stores links, position and audit entry together, or none";

it("Deno KV passes the suites of engines and stores", async () => {
  const deno = join(import.meta.dirname, "../../node_modules/deno/deno");
  const program = join(import.meta.dirname, "test_deno_kv.ts");
  const { stdout } = await promisify(execFile)(deno, ["run", "--allow-all", "--unstable-kv", program]);
  const { passed, failed } = JSON.parse(stdout) as { passed: number; failed: ReadonlyArray<string> };
  expect(failed.filter((name) => name !== timed)).toEqual(failing);
  expect(passed).toBeGreaterThan(250);
});
