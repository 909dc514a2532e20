import { expect, it } from "vitest";
import { type Html, html } from "./html.ts";
import { own } from "./languages/language.ts";
import { capitalised, listOf, longMoment, sentences } from "./said.ts";

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

it.each([
  ["en", "January 5, 2026 at 12:00 AM UTC"],
  ["de", "5. Januar 2026 um 00:00 UTC"],
])("a moment in %s is rounded up to the minute, over midnight too", (tag, expected) => {
  const moment = inWords(tag, longMoment(Date.parse("2026-01-04T23:59:00.001Z")));
  expect(moment).toBe(`<time datetime="2026-01-05T00:00:00.000Z">${expected}</time>`);
});
