/** What the pages say of the reasons with which core refuses a value. */
import type { Expected } from "@accountlink/core/errors";
import { type Html, html, type Problem } from "../../html.ts";
import { inLanguage, say } from "./say.ts";

/** Says a reason in the language of the page. One without a code is marked as English. */
export const problemHtml = ({ reason, expected }: Pick<Problem, "reason" | "expected">): Html =>
  expected === undefined ? reasonHtml(reason) : expectedHtml(expected);

const expectedHtml = (expected: Expected): Html => {
  switch (expected.is) {
    case "characters":
    case "rules":
    case "roles":
    case "scopes":
    case "text":
    case "text_or_null":
      return say(`reason.${expected.is}`, expected);
    case "nickname":
      return say("reason.rule.nickname");
    case "digits":
    case "whole_number":
      return say(`reason.${expected.is}`, expected);
    case "own_role":
    case "guild_role":
    case "other_role":
      return say(`reason.${expected.is}`, expected);
    case "known_group":
      return say("reason.known_group", expected);
    case "known_item":
      return say("reason.known_item", expected);
    default:
      return say(`reason.${expected.is}`);
  }
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
