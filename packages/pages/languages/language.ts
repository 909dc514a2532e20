/** The messages of one catalogue in one language, typed by the English source. */
import { IntlMessageFormat } from "intl-messageformat";
import { Html, html, type Place } from "../html.ts";
import type dashboard from "./dashboard/en.json";
import type {
  ValueNames as DashboardNames,
  MessageValues as DashboardValues,
} from "./dashboard/message_values.ts";
import type english from "./en.json";
import { baseOf, directionOf, type LanguageTag } from "./languages.ts";
import type { MessageValues, ValueNames } from "./message_values.ts";

export type MessageKey = keyof typeof english;

/** Messages of an embedder by language and key: in place of the service's own, or of a language that it lacks. */
export type OwnMessages = Partial<Record<LanguageTag, MessagesByKey>> &
  Readonly<Record<string, MessagesByKey>>;

type MessagesByKey = Partial<Record<MessageKey, string>>;

export type PlainKey = Exclude<MessageKey, keyof ValueNames>;

/** Renders what stands between the two ends of a tag of a message. */
type Tag = (content: Html) => Html;

/** What TypeScript knows of a catalogue of messages. */
export interface Catalogue {
  readonly key: string;
  /** The names of the values of each message that has some. */
  readonly names: object;
  /** The types of the values, for messages as plain text and as HTML. */
  readonly text: object;
  readonly html: object;
}

/** The messages for players and members. */
export interface PlayerMessages extends Catalogue {
  readonly key: MessageKey;
  readonly names: ValueNames;
  readonly text: MessageValues<string, never>;
  readonly html: MessageValues<string | Html, Tag>;
}

/** The messages of the dashboard, which owners and moderators read. */
export interface DashboardMessages extends Catalogue {
  readonly key: keyof typeof dashboard;
  readonly names: DashboardNames;
  readonly text: DashboardValues<string, (content: ReadonlyArray<string>) => string>;
  readonly html: DashboardValues<string | Html, Tag>;
}

/** The values of these messages, if one of them has some. */
export type ValuesOf<Names, Key extends string, Values> = [Key] extends [Exclude<Key, keyof Names>]
  ? readonly []
  : readonly [values: Pick<Values, Extract<Names[Key & keyof Names], keyof Values>>];

/** A name or text that people chose, which keeps its own direction within a sentence. */
export const own = (text: string | Html): Html => html`<bdi dir="auto">${text}</bdi>`;

/** An ID or a code, which is read from left to right in every language. */
export const code = (text: string): Html => html`<bdi dir="ltr">${text}</bdi>`;

/** The messages of a language by key. */
export type Messages = Readonly<Record<string, string>>;

const gaps: Readonly<Record<string, string>> = { th: " · ", ja: "", zh: "" };

/**
 * Returns what stands between two sentences. Thai sentences have no full stop, and no blank follows one of Japanese and
 * Chinese.
 */
export const gapOf = (tag: string): string => gaps[baseOf(tag) ?? ""] ?? " ";

/** A language with its messages. A message is compiled when it is first used. */
export class Language<C extends Catalogue = PlayerMessages> {
  readonly tag: string;
  /** The name of the language in the language itself. */
  readonly name: string;
  readonly dir: "ltr" | "rtl";
  /** What stands between two sentences. */
  readonly gap: string;
  readonly #messages: Messages;
  readonly #english: Messages;
  readonly #compiled = new Map<string, Compiled>();

  /** @param english the messages in place of those that the language lacks */
  constructor(tag: string, name: string, messages: Messages, english: Messages) {
    this.tag = tag;
    this.name = name;
    this.dir = directionOf(tag);
    this.gap = gapOf(tag);
    this.#messages = messages;
    this.#english = english;
  }

  has(key: string): key is C["key"] {
    return Object.hasOwn(this.#english, key);
  }

  /** Returns a message as plain text. */
  text<Key extends C["key"]>(key: Key, ...[values]: ValuesOf<C["names"], Key, C["text"]>): string {
    return String(this.#compile(key).format.format(values as Record<string, string>));
  }

  /**
   * Returns a message as HTML. Text in values and messages is escaped; tags become what `values` makes of them. A message
   * that the language lacks is marked as English.
   */
  html<Key extends C["key"]>(key: Key, ...[values]: ValuesOf<C["names"], Key, C["html"]>): Html {
    const { format, isEnglish, fixed } = this.#compile(key);
    if (fixed !== null) return fixed;
    const given = (values ?? {}) as Readonly<Record<string, string | number | Html | Tag>>;
    const entries = Object.entries(given).map(([name, value]) =>
      typeof value === "function"
        ? [name, (content: ReadonlyArray<string | Html>) => value(joined(content))]
        : [name, value],
    );
    const parts = format.format<Html>(Object.fromEntries(entries));
    return marked(joined(Array.isArray(parts) ? parts : [parts]), isEnglish);
  }

  #compile(key: string): Compiled {
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const message = this.#messages[key];
    const isEnglish = message === undefined && baseOf(this.tag) !== "en";
    const format =
      message === undefined
        ? new IntlMessageFormat(this.#english[key] ?? "", "en")
        : new IntlMessageFormat(message, this.tag);
    const isFixed = format.getAst().every(isLiteral);
    // Markup that depends on nothing is rendered once.
    const fixed = isFixed ? new Html(marked(html`${String(format.format())}`, isEnglish).source) : null;
    const compiled = { format, isEnglish, fixed };
    this.#compiled.set(key, compiled);
    return compiled;
  }
}

interface Compiled {
  readonly format: IntlMessageFormat;
  /** Whether the message is English in place of one that the language lacks. */
  readonly isEnglish: boolean;
  /** The markup of a message without values; null for others. */
  readonly fixed: Html | null;
}

/** Whether a part of a parsed message is a text without values. */
const isLiteral = ({ type }: { readonly type: number }): boolean => type === 0;

/** Marks a message that is English in place of one that the language lacks. Its values are in English too. */
const marked = (message: Html, isEnglish: boolean): Html =>
  isEnglish
    ? html`<span lang="en" dir="ltr">${new Html((place) => message.at(inEnglish(place)))}</span>`
    : message;

const inEnglish = (place: Place): Place =>
  place.wording?.english === undefined ? place : { ...place, wording: place.wording.english };

const joined = (parts: ReadonlyArray<string | Html>): Html => html`${parts.map((part) => html`${part}`)}`;
