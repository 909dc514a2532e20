/** The scripts of a fresh clone that need more than `npm start` does. */
import { existsSync } from "node:fs";
import { appendFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installedMegabytes, makeClone, run, terminal } from "./fresh_clone.ts";

test("the other scripts install the rest, and npm start keeps it", async () => {
  const clone = await makeClone();
  onTestFinished(() => rm(clone, { recursive: true, force: true }));
  const install = (...args: ReadonlyArray<string>) =>
    run(join(clone, "tools/install"), args, { env: terminal() });
  const hasRest = () => existsSync(join(clone, "node_modules/vitest"));
  await install("serving");
  expect(hasRest()).toBe(false);
  await install();
  expect(hasRest()).toBe(true);
  const megabytes = await installedMegabytes(clone);
  await install("serving");
  expect(await installedMegabytes(clone)).toBe(megabytes);

  // Another version of the lockfile, with both installed.
  await appendFile(join(clone, "pnpm-lock.yaml"), "\n");
  await install("serving");
  expect(await installedMegabytes(clone)).toBe(megabytes);
});
