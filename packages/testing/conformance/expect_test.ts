import { expect, it } from "vitest";
import { expectEqual } from "./expect.ts";

it("a failure with a thousand IDs shows only those around the first difference", () => {
  const ids = Array.from({ length: 1_000 }, (_, index) => String(100_000 + index));
  const fail = (others: ReadonlyArray<string>) => {
    try {
      return expectEqual<ReadonlyArray<string>>(others, ids);
    } catch (error) {
      return error as Error;
    }
  };
  const error = fail(ids.filter((id) => id !== "100500"));
  expect(error).toMatchObject({ name: "AssertionError", expected: expect.stringContaining('"100500"') });
  expect(error?.message).toContain('"100499"');
  expect(error?.message.length).toBeLessThan(1_100);
  expect(fail(ids.slice(0, 999))?.message).toContain('"100999"');
});
