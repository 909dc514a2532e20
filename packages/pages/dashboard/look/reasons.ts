/** What the pages say of the reasons with which core refuses a value. */
import type { Expected } from "@accountlink/core/errors";
import { type Html, html, type Problem } from "../../html.ts";
import { type DashboardKey, inLanguage } from "./say.ts";

/** Says a reason in the language of the page. One without a code is marked as English. */
export const problemHtml = ({ reason, expected }: Pick<Problem, "reason" | "expected">): Html =>
  expected === undefined ? reasonHtml(reason) : expectedHtml(expected);

const expectedHtml = (expected: Expected): Html => {
  const code = expected.is === "nickname" ? "rule.nickname" : expected.is;
  return inLanguage(({ say }) => say(`reason.${code}` satisfies DashboardKey, expected));
};

/** Says a message if the pages have one with this key, or else what core says in English. */
export const saidOr = (key: string, english: string, values: Readonly<Record<string, unknown>> = {}): Html =>
  inLanguage(({ has, say: inWords }) => (has(key) ? inWords(key, values) : reasonHtml(english)));

/** Returns a text of core, marked as English on pages in another language. */
const reasonHtml = (reason: string | Html): Html =>
  typeof reason !== "string"
    ? reason
    : inLanguage(({ tag }) =>
        tag === "en" ? html`${reason}` : html`<span lang="en" dir="ltr">${reason}</span>`,
      );
