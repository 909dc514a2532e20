import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { takePictures } from "./scenes.ts";

const stored = JSON.parse(
  readFileSync(fileURLToPath(import.meta.resolve("../../docs/pictures/pages.json")), "utf8"),
) as Readonly<Record<string, string>>;

it("no picture of the documents is older than the page that it shows; `npm run pictures` makes them anew", async () => {
  const taken = Object.entries(await takePictures());
  const older = taken.filter(([name, { page }]) => stored[name] !== page).map(([name]) => name);
  expect(older).toEqual([]);
  expect(Object.keys(stored)).toEqual(taken.map(([name]) => name));
});
