import { assert, it } from "@accountlink/test-servers/effect";
import { readCode } from "./session_code.ts";

it.each([
  " 2b3c 4d5f ",
  "２Ｂ３Ｃ－４Ｄ５Ｆ",
  "２ｂ３ｃー４ｄ５ｆ",
  "2B3C\u22124D5F",
  "2B3C\u00AD4D5F\u200B",
  "2B3C—4D5F",
  "٢B٣C-٤D٥F",
  "۲B۳C-۴D۵F",
  "२B३C-४D५F",
])("the code that was typed as %j is read", (typed) => {
  assert.strictEqual(readCode(typed), "2B3C-4D5F");
});

it.each(["2B3C-4D5", "2B3C-4D5FF", "2B3C-4D5A", "2B3C/4D5F", "", "²B³C-4D5Ａ"])("%j is no code", (typed) => {
  assert.isNull(readCode(typed));
});
