import { expect, it } from "vitest";
import { withId } from "./names.ts";

it("the ID of an account stands after its name, also after a name that is written from right to left", () => {
  expect(withId("Ada", "100001")).toBe("Ada (100001)");
  expect(withId("محمد", "100001")).toBe("محمد\u200E (100001)");
});
