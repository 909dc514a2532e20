/** The messages of one language, typed by the English source. */
import { formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import { IntlMessageFormat } from "intl-messageformat";
import { type Html, html } from "../html.ts";
import type english from "./en.json";
import { baseOf, directionOf, type LanguageTag } from "./languages.ts";
import type { MessageValues, ValueNames } from "./message_values.ts";

export type MessageKey = keyof typeof english;

/** Messages of an embedder by language and key: in place of the service's own, or of a language that it lacks. */
export type OwnMessages = Partial<Record<LanguageTag, MessagesByKey>> &
  Readonly<Record<string, MessagesByKey>>;

type MessagesByKey = Partial<Record<MessageKey, string>>;

/** The keys of messages without values. */
export type PlainKey = Exclude<MessageKey, keyof ValueNames>;

/** Renders what stands between the two ends of a tag of a message. */
type Tag = (content: Html) => Html;

/** The values of these messages, if one of them has some. */
type ValuesOf<Key extends MessageKey, Text, Tags = never> = [Key] extends [PlainKey]
  ? readonly []
  : readonly [values: Pick<MessageValues<Text, Tags>, ValueNames[Key & keyof ValueNames]>];

/** Renders the tag `<b>` of a message. */
export const bold: Tag = (content) => html`<strong>${content}</strong>`;

/** Renders the tag `<unseen>`: text for screen readers alone. */
export const unseen: Tag = (content) => html`<span class="unseen">${content}</span>`;

/** A name or text that people chose, which keeps its own direction within a sentence. */
export const own = (text: string): Html => html`<bdi dir="auto">${text}</bdi>`;

/** An ID or a code, which is read from left to right in every language. */
export const code = (text: string): Html => html`<bdi dir="ltr">${text}</bdi>`;

/** The messages of a language by key. */
export type Messages = Readonly<Record<string, string>>;

const gaps: Readonly<Record<string, string>> = { th: " · ", ja: "", zh: "" };

/** A language with its messages. A message is compiled when it is first used. */
export class Language {
  readonly tag: string;
  /** The name of the language in the language itself. */
  readonly name: string;
  readonly dir: "ltr" | "rtl";
  /** What stands between two sentences. Thai sentences have no full stop, and no blank follows one of Japanese and Chinese. */
  readonly gap: string;
  readonly #messages: Messages;
  readonly #english: Messages;
  readonly #compiled = new Map<MessageKey, IntlMessageFormat>();
  #dates: Intl.DateTimeFormat | undefined;
  #times: Intl.DateTimeFormat | undefined;

  /** @param english the messages in place of those that the language lacks */
  constructor(tag: string, name: string, messages: Messages, english: Messages) {
    this.tag = tag;
    this.name = name;
    this.dir = directionOf(tag);
    this.gap = gaps[baseOf(tag) ?? ""] ?? " ";
    this.#messages = messages;
    this.#english = english;
  }

  /** Returns a message as plain text. */
  text<Key extends MessageKey>(key: Key, ...[values]: ValuesOf<Key, string>): string {
    return String(this.#format(key).format(values));
  }

  /** Returns a message as HTML. Text in values and messages is escaped; tags become what `values` makes of them. */
  html<Key extends MessageKey>(key: Key, ...[values]: ValuesOf<Key, string | Html, Tag>): Html {
    const entries = Object.entries<string | number | Html | Tag>(values ?? {}).map(([name, value]) =>
      typeof value === "function"
        ? [name, (content: ReadonlyArray<string | Html>) => value(joined(content))]
        : [name, value],
    );
    const parts = this.#format(key).format<Html>(Object.fromEntries(entries));
    return joined(Array.isArray(parts) ? parts : [parts]);
  }

  /** Returns the UTC day of a time. */
  day(time: Millis): Html {
    this.#dates ??= new Intl.DateTimeFormat(this.tag, { dateStyle: "long", timeZone: "UTC" });
    return html`<time datetime="${formatTimestamp(time).slice(0, 10)}">${this.#dates.format(time)}</time>`;
  }

  /** Returns the time of day in UTC, since pages without a script do not know the reader's zone. */
  time(time: Millis): Html {
    this.#times ??= new Intl.DateTimeFormat(this.tag, { timeStyle: "short", timeZone: "UTC" });
    return html`<time datetime="${formatTimestamp(time)}">${this.#times.format(time)}</time>`;
  }

  /** Returns the parts as a list, such as "A, B and C". */
  list(parts: ReadonlyArray<string>): Html {
    const format = new Intl.ListFormat(this.tag, { type: "conjunction" });
    // The last two parts of a Thai list of CLDR have no blank after "and", so names with blanks run into each other.
    const isThai = this.tag.startsWith("th");
    return joined(
      format
        .formatToParts(parts)
        .map(({ type, value }) => (type === "element" ? own(value) : isThai ? ", " : value)),
    );
  }

  /** Returns these sentences as one text, without those that are null. */
  sentences(parts: ReadonlyArray<string | Html | null>): Html {
    const said = parts.filter((part) => part !== null);
    return joined(said.flatMap((part, index) => (index === 0 ? [part] : [this.gap, part])));
  }

  /** Returns the text with its first letter as a capital, by the rules of the language. */
  capitalised(text: string): string {
    return text.replace(/^./su, (letter) => letter.toLocaleUpperCase(this.tag));
  }

  #format(key: MessageKey): IntlMessageFormat {
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const message = this.#messages[key];
    const format =
      message === undefined
        ? new IntlMessageFormat(this.#english[key] ?? "", "en")
        : new IntlMessageFormat(message, this.tag);
    this.#compiled.set(key, format);
    return format;
  }
}

const joined = (parts: ReadonlyArray<string | Html>): Html => html`${parts.map((part) => html`${part}`)}`;
