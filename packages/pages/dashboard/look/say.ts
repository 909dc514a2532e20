/** The texts of the dashboard, in the language of whoever reads the page. */
import { type Html, html } from "../../html.ts";
import type { DashboardMessages, ValuesOf } from "../../languages/mod.ts";
import { inLanguage, partIn } from "../../said.ts";

export {
  capitalised,
  inLanguage,
  linkTo,
  listOf,
  partIn,
  plain,
  separated,
  tags,
  wordingOf,
} from "../../said.ts";

export type DashboardKey = DashboardMessages["key"];

type SayValues<Key extends DashboardKey> = ValuesOf<
  DashboardMessages["names"],
  Key,
  DashboardMessages["html"]
>;

export const say = <Key extends DashboardKey>(key: Key, ...[values]: SayValues<Key>): Html =>
  inLanguage(({ say: inWords }) => inWords(key, values));

/** Renders a part that has no other language than English, and marks it. */
export const englishPart = (content: Html): Html =>
  inLanguage(({ tag, english }) =>
    tag === "en" || english === undefined
      ? content
      : html`<div lang="en" dir="ltr">${partIn(english, content)}</div>`,
  );
