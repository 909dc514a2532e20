import { expect, it } from "vitest";
import { Html, html } from "../../html.ts";
import { inEnglish } from "../test_english.ts";
import { textField } from "./field.ts";

it("a page looks through its problems once, however many fields it has", () => {
  let reads = 0;
  const problems = Array.from({ length: 100 }, (_, index) => ({
    get name() {
      reads++;
      return `field-${index}`;
    },
    reason: "is missing",
  }));
  const fields = Array.from({ length: 200 }, (_, index) =>
    textField({ name: `field-${index}`, label: "Field", value: "" }),
  );
  const page = inEnglish(new Html((place) => html`${fields}`.at({ ...place, problems })));
  expect(page.split('aria-invalid="true"').length - 1).toBe(problems.length);
  expect(reads).toBe(problems.length);
});
