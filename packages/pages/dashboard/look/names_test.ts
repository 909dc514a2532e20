import { expect, it } from "vitest";
import { withoutMessages } from "../test_english.ts";
import { countNote, withId } from "./names.ts";

it("the ID of an account stands after its name, also after a name that is written from right to left", () => {
  expect(withId("Ada", "100001")).toBe("Ada (100001)");
  expect(withId("محمد", "100001")).toBe("محمد\u200E (100001)");
});

it("a message that a language lacks is in English with its values, and marked", () => {
  const note = countNote({ count: 1, age: 180_000 });
  expect(note && withoutMessages("ar", note)).toBe('<span lang="en" dir="ltr">counted 3 minutes ago</span>');
});
