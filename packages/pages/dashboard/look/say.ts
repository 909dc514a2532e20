/** The texts of the dashboard, in the language of whoever reads the page. */
import { Html, html, inPlace, type Place, to, type Wording } from "../../html.ts";
import { type DashboardMessages, type Language, type ValuesOf } from "../../languages/mod.ts";

export type DashboardKey = DashboardMessages["key"];

type SayValues<Key extends DashboardKey> = ValuesOf<
  DashboardMessages["names"],
  Key,
  DashboardMessages["html"]
>;

export const say = <Key extends DashboardKey>(key: Key, ...[values]: SayValues<Key>): Html =>
  inLanguage(({ say: inWords }) => inWords(key, values));

/** Renders what depends on the language of the page. */
export const inLanguage = (render: (wording: Wording) => Html): Html =>
  inPlace((place) => render(wordingIn(place)));

const wordingIn = ({ wording }: Place): Wording => {
  if (wording === undefined)
    throw new Error("Cannot say a message: the place of the document has no language");
  return wording;
};

/** @param english the wording of parts that have no other language than English */
export const wordingOf = (words: Language<DashboardMessages>, english?: Wording): Wording => ({
  ...(english && { english }),
  tag: words.tag,
  has: (key) => words.has(key),
  // `say` has checked the values against the message.
  say: words.html.bind(words) as Wording["say"],
});

/** Renders a part in another language than the page around it. */
export const partIn = (wording: Wording, content: Html): Html =>
  new Html((place) => content.at({ ...place, wording }));

/** Renders a part that has no other language than English, and marks it. */
export const englishPart = (content: Html): Html =>
  inLanguage(({ tag, english }) =>
    tag === "en" || english === undefined
      ? content
      : html`<div lang="en" dir="ltr">${partIn(english, content)}</div>`,
  );

/** Text for a place without elements, such as an attribute, an option of a menu or the title of a document. */
export const plain = (content: string | Html): Html | string =>
  typeof content === "string" ? content : new Html((place) => content.at(place).replace(/<[^>]*>/g, ""));

/** Begins a sentence with a capital, by the rules of the language. */
export const capitalised = (content: Html): Html =>
  new Html((place) =>
    content
      .at(place)
      .replace(
        /^((?:<[^>]*>)*)(\p{L})/u,
        (_, marks: string, letter: string) => marks + letter.toLocaleUpperCase(place.wording?.tag),
      ),
  );

/** The values of tags in messages. */
export const tags = {
  b: (content: Html) => html`<strong>${content}</strong>`,
  code: (content: Html) => html`<code>${content}</code>`,
  em: (content: Html) => html`<em>${content}</em>`,
  small: (content: Html) => html`<small>${content}</small>`,
  unseen: (content: Html) => html`<span class="unseen">${content}</span>`,
};

export const linkTo =
  (address: string) =>
  (content: Html): Html =>
    html`<a href="${to(address)}">${content}</a>`;

/** Renders parts with the same text between them. */
export const separated = (parts: ReadonlyArray<string | Html>, between: string): Html =>
  html`${parts.map((part, index) => html`${index === 0 ? "" : between}${part}`)}`;

/** A list such as "A, B and C". */
export const listOf = (parts: ReadonlyArray<string | Html>): Html =>
  inLanguage(({ tag }) => {
    const places = parts.map((_, index) => String(index));
    const formatted = new Intl.ListFormat(tag, { type: "conjunction" }).formatToParts(places);
    return html`${formatted.map(({ type, value }) => (type === "element" ? html`${parts[Number(value)] ?? ""}` : html`${value}`))}`;
  });
