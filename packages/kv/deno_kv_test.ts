import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

// Only the proof starts Deno; in the gate, engines in memory and Redis pass these suites.
it.runIf(process.env["ACCOUNTLINK_TEST_PROOF"] === "1")(
  "Deno KV passes the suites of engines and stores",
  async () => {
    const deno = join(import.meta.dirname, "../../node_modules/deno/deno");
    const program = join(import.meta.dirname, "test_deno_kv.ts");
    const { stdout } = await promisify(execFile)(deno, ["run", "--allow-all", "--unstable-kv", program]);
    const { passed, failed } = JSON.parse(stdout) as { passed: number; failed: ReadonlyArray<string> };
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(215);
  },
);
