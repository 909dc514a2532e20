import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { makeFolder } from "../commands/test_folder.ts";
import { readConfig } from "../config/config.ts";
import { prepareFolder } from "./data_folder.ts";

const prepare = Effect.fnUntraced(function* (folder: string) {
  yield* prepareFolder(yield* readConfig({ ACCOUNTLINK_DATA_DIR: folder }), folder);
});

test("prepareFolder makes missing folders private to their owner, and accepts existing folders", function* () {
  const folder = join(yield* makeFolder, "deep", "data");
  yield* prepare(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "..")).mode & 0o777).toBe(0o700);
  yield* prepare(folder);
});

test.skipIf(!existsSync("/proc/self"))("prepareFolder fails at once where no folder can be", function* () {
  expect((yield* Effect.flip(prepare("/proc/none/data"))).message).toMatch(
    /^ACCOUNTLINK_DATA_DIR is "\/proc\/none\/data", expected a folder .*\/proc\/none/,
  );
});
