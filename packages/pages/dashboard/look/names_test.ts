import { expect, it } from "vitest";
import { visibleName, withId } from "./names.ts";

it("the ID of an account stands after its name, also after a name that is written from right to left", () => {
  expect(withId("Ada", "100001")).toBe("Ada (100001)");
  expect(withId("محمد", "100001")).toBe("محمد\u200E (100001)");
});

it("an account without a visible name is named by its user name, or not at all", () => {
  for (const displayName of ["", "  ", "\u3164", "\u200B\u2800"]) {
    expect(visibleName({ displayName, username: "ada" })).toBe("ada");
    expect(visibleName({ displayName, username: " " })).toBeNull();
  }
});
