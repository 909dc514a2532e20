import { Option } from "effect";
import { expect, it } from "vitest";
import { Entries } from "./cache.ts";

const minute = 60_000;

it("a full cache drops the least recently used entry", () => {
  const entries = new Entries(3);
  for (const key of ["a", "b", "c"]) entries.set(key, key, minute);
  entries.get("a", 0);
  entries.set("b", "again", minute);
  entries.set("d", "d", minute);
  expect(["a", "b", "c", "d"].filter((key) => Option.isSome(entries.get(key, 0)))).toEqual(["a", "b", "d"]);
  expect(entries.size).toBe(3);
});

it("overwriting an entry of a full cache drops no other entry", () => {
  const entries = new Entries(2);
  entries.set("a", "a", minute);
  entries.set("b", "b", minute);
  entries.set("b", "again", minute);
  expect(entries.get("a", 0)).toEqual(Option.some("a"));
});
