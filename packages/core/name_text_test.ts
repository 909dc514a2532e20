import { expect, it } from "@accountlink/test-servers/effect";
import { Schema } from "effect";
import { isNameText, isVisibleName, nameText, visibleName } from "./name_text.ts";

const named = ["Ada", "Ada's bot 🎮", "אדה", "عدا", "a\u200Db", "x\u200Fy", ""];
const between = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
const unfit = [
  ...between(0x00, 0x1f),
  ...between(0x7f, 0x9f),
  ...between(0x202a, 0x202e),
  ...between(0x2066, 0x2069),
  "\uD83D",
];

it.each(named)("%j can be a name", (text) => {
  expect(isNameText(text)).toBe(true);
  expect(Schema.is(Schema.String.check(nameText))(text)).toBe(true);
});

it.each(unfit)("%j is not allowed in names", (character) => {
  for (const text of [character, `Ada${character}`, `${character}Ada`]) {
    expect(isNameText(text)).toBe(false);
    expect(Schema.is(Schema.String.check(nameText))(text)).toBe(false);
  }
});

it("the JSON Schema pattern of names refuses what isNameText refuses, except lone surrogates", () => {
  const { schema } = Schema.toJsonSchemaDocument(Schema.String.check(nameText));
  const pattern = new RegExp(JSON.parse(JSON.stringify(schema)).allOf?.[0]?.pattern ?? schema["pattern"]);
  for (const text of named) expect(pattern.test(text)).toBe(true);
  for (const character of unfit.slice(0, -1)) expect(pattern.test(`Ada${character}`)).toBe(false);
});

it("an account without a visible name is named by its user name, or not at all", () => {
  for (const displayName of ["", "  ", "\u3164", "\u200B\u2800"]) {
    expect(visibleName({ displayName, username: "ada" })).toBe("ada");
    expect(visibleName({ displayName, username: " " })).toBeNull();
  }
});

it.each(Array.from("\u00AD\u180E\u200B\u2028\u2029\u2060\u206F\uFEFF\uFFF9"))(
  "a new name has no %j",
  (hidden) => {
    expect(isVisibleName(`Ada${hidden}`)).toBe(false);
  },
);

it.each(["👩‍🚀 Ada", "Ada ❤️", "می\u200Cخواهم", "x\u200F"])("%j can be a new name", (name) => {
  expect(isVisibleName(name)).toBe(true);
});
