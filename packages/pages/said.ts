/** The texts of documents, in the language of whoever reads them. */
import { formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import { Html, html, inPlace, type ReachedPlatforms, to, type Wording } from "./html.ts";
import {
  type Catalogue,
  gapOf,
  type Language,
  type MessageKey,
  type PlayerMessages,
  type ValuesOf,
} from "./languages/language.ts";

export const inLanguage = (render: (wording: Wording) => Html): Html =>
  inPlace(({ wording }) => {
    if (wording === undefined)
      throw new Error("Cannot say a message: the place of the document has no language");
    return render(wording);
  });

/** @param english the wording of parts that have no other language than English */
export const wordingOf = <C extends Catalogue>(words: Language<C>, english?: Wording): Wording => ({
  ...(english && { english }),
  tag: words.tag,
  has: (key) => words.has(key),
  // `say` and `said` have checked the values against the message.
  say: words.html.bind(words) as unknown as Wording["say"],
});

export const byPlatforms = (render: (reached: ReachedPlatforms) => Html): Html =>
  inPlace(({ platforms: reached }) => {
    if (reached === undefined)
      throw new Error("Cannot name a platform: the place of the document has no platforms");
    return render(reached);
  });

/** What people call the platforms. */
export const platforms = {
  chat: byPlatforms(({ chat }) => html`${chat}`),
  game: byPlatforms(({ game }) => html`${game}`),
};

const platformValues = { chatName: platforms.chat, gameName: platforms.game };

type Names = PlayerMessages["names"];

/** The names of the values of each message that has others than the platforms. */
type OtherNames = {
  readonly [Key in keyof Names as Exclude<Names[Key], keyof typeof platformValues> extends never
    ? never
    : Key]: Exclude<Names[Key], keyof typeof platformValues>;
};

/** A message for players and members. The names of the platforms need not be given. */
export const said = <Key extends MessageKey>(
  key: Key,
  ...[values]: ValuesOf<OtherNames, Key, PlayerMessages["html"]>
): Html => inLanguage(({ say }) => say(key, { ...platformValues, ...values }));

/** The values of tags in messages. */
export const tags = {
  b: (content: Html) => html`<strong>${content}</strong>`,
  code: (content: Html) => html`<code>${content}</code>`,
  em: (content: Html) => html`<em>${content}</em>`,
  small: (content: Html) => html`<small>${content}</small>`,
  unseen: (content: Html) => html`<span class="unseen">${content}</span>`,
};

/** Renders a part in another language than the page around it. */
export const partIn = (wording: Wording, content: Html): Html =>
  new Html((place) => content.at({ ...place, wording }));

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

export const linkTo =
  (address: string) =>
  (content: Html): Html =>
    html`<a href="${to(address)}">${content}</a>`;

/** Renders parts with the same text between them. */
export const separated = (parts: ReadonlyArray<string | Html>, between: string): Html =>
  html`${parts.map((part, index) => html`${index === 0 ? "" : between}${part}`)}`;

/** Renders sentences as one text, without those that are null. */
export const sentences = (parts: ReadonlyArray<Html | null>): Html =>
  inLanguage(({ tag }) =>
    separated(
      parts.filter((part) => part !== null),
      gapOf(tag),
    ),
  );

/** A list such as "A, B and C". */
export const listOf = (parts: ReadonlyArray<string | Html>): Html =>
  inLanguage(({ tag }) => {
    const places = parts.map((_, index) => String(index));
    const formatted = new Intl.ListFormat(tag, { type: "conjunction" }).formatToParts(places);
    // The last two parts of a Thai list of CLDR have no blank after "and", so names with blanks run into each other.
    const isThai = tag.startsWith("th");
    return html`${formatted.map(({ type, value }) =>
      type === "element" ? html`${parts[Number(value)] ?? ""}` : html`${isThai ? ", " : value}`,
    )}`;
  });

/** Makes something of each language once. */
export const ofTag = <A>(make: (tag: string) => A): ((tag: string) => A) => {
  const made = new Map<string, A>();
  return (tag) => {
    const known = made.get(tag) ?? make(tag);
    made.set(tag, known);
    return known;
  };
};

const dates = ofTag((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "long", timeZone: "UTC" }));
const moments = ofTag(
  (tag) =>
    new Intl.DateTimeFormat(tag, {
      year: "numeric",
      month: "long",
      day: "numeric",
      hour: "numeric",
      minute: "2-digit",
      timeZone: "UTC",
      timeZoneName: "short",
    }),
);

/** The UTC day of a time, in words. */
export const longDay = (time: Millis): Html =>
  inLanguage(
    ({ tag }) =>
      html`<time datetime="${formatTimestamp(time).slice(0, 10)}">${dates(tag).format(time)}</time>`,
  );

/**
 * A time from which on something holds, in UTC, since pages without a script do not know the reader's zone. It is rounded
 * up to the minute, so that nobody comes too early.
 */
export const longMoment = (time: Millis): Html =>
  inLanguage(({ tag }) => {
    const minute = Math.ceil(time / 60_000) * 60_000;
    return html`<time datetime="${formatTimestamp(minute)}">${moments(tag).format(minute)}</time>`;
  });
