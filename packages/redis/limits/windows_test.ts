import { expect, it } from "vitest";
import { subjectOf, withHashTag } from "./windows.ts";

it("all windows of one subject share a hash tag, and the subject of an address keeps its colons", () => {
  const names = ["second:abc", "day:abc", "verify_day:abc"].map(withHashTag);
  expect(names).toEqual(["second:{abc}", "day:{abc}", "verify_day:{abc}"]);
  expect(subjectOf("ip_day:2001:db8::/64")).toBe("2001:db8::/64");
  expect(withHashTag("ip_day:2001:db8::/64")).toBe("ip_day:{2001:db8::/64}");
});

it("withHashTag returns different keys for different window names", () => {
  const names = [
    "",
    ":",
    "{",
    "}",
    "a",
    "a:",
    ":a",
    "a:b",
    "{a:b",
    "a:{b",
    "a:b}",
    "{a}:b",
    "a:b:c",
    "a{:b}",
  ];
  expect(new Set(names.map(withHashTag)).size).toBe(names.length);
});
