import { expect, it } from "vitest";
import { type Html, html } from "./html.ts";
import { own } from "./languages/language.ts";
import { capitalised, listOf, sentences } from "./said.ts";

const inWords = (tag: string, content: Html): string =>
  content.at({ basePath: "", wording: { tag, has: () => false, say: () => html`` } });

it.each([
  ["tr", "istanbul", "İstanbul"],
  ["en", "istanbul", "Istanbul"],
  ["tr", "ıslak istanbul", "Islak istanbul"],
])("capitals follow the rules of the language %s", (tag, text, expected) => {
  expect(inWords(tag, capitalised(html`${text}`))).toBe(expected);
});

it("names with blanks are told apart in a list in Thai", () => {
  const list = inWords("th", listOf(["Chess Club", "Go Club", "Ludo"].map(own)));
  expect(list.replace(/<[^>]*>/g, "")).toBe("Chess Club, Go Club, Ludo");
});

it("sentences of one text are told apart as each language does", () => {
  const texts = ["th", "ja", "zh-TW", "ko"].map((tag) =>
    inWords(tag, sentences([html`One.`, null, html`<b>Two.</b>`])),
  );
  expect(texts).toEqual(["One. · <b>Two.</b>", "One.<b>Two.</b>", "One.<b>Two.</b>", "One. <b>Two.</b>"]);
});
