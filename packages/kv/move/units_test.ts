import { readdirSync, readFileSync } from "node:fs";
import { recordTypes, rootKeys } from "@accountlink/core/storage";
import { expect, test } from "vitest";
import { movedRecords } from "./rows.ts";

/** What a move makes anew, ends before, or leaves behind: counts, deletions under way, tables of earlier releases. */
const others = ["count", "use", "purge", "erasure", "entering_unheld", "plan", "guild_log"];

test("every table of records is moved, or said not to be", () => {
  const folder = new URL("../stores/", import.meta.url);
  const named = readdirSync(folder).flatMap((file) =>
    Array.from(
      readFileSync(new URL(file, folder), "utf8").matchAll(/table<[^>]+>\(\)\(\s*"(\w+)"/g),
      ([, name]) => name,
    ),
  );
  const declared = [...recordTypes, rootKeys].map(({ name }) => name);
  expect(new Set([...named, ...declared])).toEqual(new Set([...movedRecords, ...others]));
});
