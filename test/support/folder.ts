import { mkdtempSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes a temporary folder, and removes it after the tests of the file. */
export const useFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "accountlink-test-")));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
};
