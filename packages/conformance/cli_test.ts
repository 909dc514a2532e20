import { execFile } from "node:child_process";
import { join } from "node:path";
import * as test from "vitest";

interface Ended {
  readonly code: number;
  readonly output: string;
}

const run = (...args: ReadonlyArray<string>): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, "cli.ts"), ...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });

const pathOf = (name: string) => join(import.meta.dirname, `test_${name}_adapter.ts`);

test.describe("accountlink-conformance", () => {
  test.it("passes an adapter that is right, in the suites that were asked for", async () => {
    const { code, output } = await run(pathOf("right"), "--only", "LinkStore");
    test.expect(output).toMatch(/✓ removeGame returns the removed game once\n/);
    test.expect(output).toMatch(/\n\d+ passed, 0 failed, 0 skipped\n$/);
    test.expect(output).not.toContain("KeyStore");
    test.expect(code).toBe(0);
  });

  test.it("names the cases that an adapter fails, with what is expected", async () => {
    const { code, output } = await run(pathOf("wrong"), "--only", "LinkStore");
    test
      .expect(output)
      .toMatch(/✗ concurrent setGame on one chat user[^\n]*\n\s+AssertionError: The answer is/);
    test.expect(code).toBe(1);
  });

  test.it("says what it expects of a module and of its options", async () => {
    const [none, runs, only] = await Promise.all([
      run(join(import.meta.dirname, "expect.ts")),
      run(pathOf("right"), "--runs", "0"),
      run(pathOf("right"), "--only", "Nothing"),
    ]);
    test.expect(none).toMatchObject({ code: 2, output: test.expect.stringContaining(`exports no "layer"`) });
    test.expect(runs).toMatchObject({ code: 2, output: `--runs is "0", expected 1 or more\n` });
    test
      .expect(only)
      .toMatchObject({ code: 2, output: test.expect.stringContaining("a part of the name of a suite") });
  });
});
