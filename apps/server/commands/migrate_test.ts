import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeWorkplace } from "./test_program.ts";

it("`migrate` creates the database and the secret of a new folder, and prints the steps", async () => {
  const { run, json, dataFolder } = await makeWorkplace();
  const { code, stdout, stderr } = await run("migrate");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Ran step initial\n(Ran step \w+\n)*$/);
  expect(statSync(join(dataFolder, "secret")).mode & 0o777).toBe(0o600);
  expect(await json("migrate")).toEqual({ folder: dataFolder, steps: [] });
  expect((await run("migrate")).stdout).toBe(`The schema in data folder "${dataFolder}" is up to date\n`);
});

it("migrate works while a server runs", async () => {
  const { json, serve } = await makeWorkplace();
  await serve();
  expect(await json("migrate")).toMatchObject({ steps: [] });
});
