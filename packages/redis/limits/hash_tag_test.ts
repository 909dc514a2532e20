import { describe, expect, it } from "vitest";
import { hashTagOf, withHashTag } from "./hash_tag.ts";

describe("hashTagOf", () => {
  // Examples from the specification of Redis Cluster.
  it.each([
    ["{user1000}.following", "user1000"],
    ["foo{}{bar}", "foo{}{bar}"],
    ["foo{{bar}}zap", "{bar"],
    ["foo{bar}{zap}", "bar"],
    ["foo", "foo"],
    ["foo{bar", "foo{bar"],
    ["}foo{bar}", "bar"],
  ])("hashTagOf %s returns %s", (key, tag) => {
    expect(hashTagOf(key)).toBe(tag);
  });
});

describe("withHashTag", () => {
  it("all windows of one subject share a hash tag", () => {
    const names = ["second:abc", "day:abc", "verify_day:abc"].map(withHashTag);
    expect(names).toEqual(["second:{abc}", "day:{abc}", "verify_day:{abc}"]);
    expect(new Set(names.map(hashTagOf))).toEqual(new Set(["abc"]));
  });

  it("the hash tag of an address keeps its colons", () => {
    expect(hashTagOf(withHashTag("ip_day:2001:db8::/64"))).toBe("2001:db8::/64");
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
});
