import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { runCommand } from "./command.ts";

const run = async (...args: ReadonlyArray<string>) => {
  let output = "";
  const stream = { write: (text: string) => (output += text) };
  return { code: await runCommand(args, stream, stream), output };
};

const pathOf = (name: string) => join(import.meta.dirname, `test_${name}_adapter.ts`);

it("accountlink-conformance exits with 0 for a correct adapter, and runs only the requested suites", async () => {
  const { code, output } = await run(pathOf("right"), "--only", "LinkStore");
  expect(output).toMatch(/✓ batch lookups take 50 IDs\n/);
  expect(output).toMatch(/\n\d+ passed, 0 failed, 0 skipped\n$/);
  expect(output).not.toContain("KeyStore");
  expect(code).toBe(0);
});

it("accountlink-conformance runs the suite of an engine that a module exports", async () => {
  const { code, output } = await run(pathOf("engine"));
  expect(output).toMatch(/: Kv\n[^]*✓ a count has the keys of its range alone\n/);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/ 0 failed/) });
});

it("accountlink-conformance exits with 1 and prints each failed case with the expected answer", async () => {
  const { code, output } = await run(pathOf("wrong"), "--only", "LinkStore");
  expect(output).toMatch(/✗ concurrent setGame on one chat user[^\n]*\n\s+AssertionError: The answer is/);
  expect(code).toBe(1);
});

it("accountlink-conformance exits with 2 for a module without a layer and for invalid options", async () => {
  expect(await run(join(import.meta.dirname, "expect.ts"))).toEqual({
    code: 2,
    output: expect.stringContaining(`exports no "layer"`),
  });
  expect(await run(pathOf("right"), "--runs", "0")).toEqual({
    code: 2,
    output: `--runs is "0", expected 1 or more\n`,
  });
  expect(await run(pathOf("right"), "--timeout", "0")).toEqual({
    code: 2,
    output: `--timeout is "0", expected more than 0 seconds\n`,
  });
});

it.runIf(isProof)("accountlink-conformance prints errors about its arguments on standard error", async () => {
  const command = [join(import.meta.dirname, "cli.ts"), pathOf("right"), "--only", "Nothing"];
  await expect(promisify(execFile)(process.execPath, command)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("a part of the name of a suite"),
  });
});
