/** Makes HTML from template literals. Interpolated values are escaped unless they are `Html`. */

import type { Reader } from "@accountlink/core/accounts";
import type { Expected } from "@accountlink/core/errors";
import type { GuildId } from "@accountlink/core/ids";

/** What the markup of a document depends on besides its data. @internal */
export interface Place {
  /** The path below which the service is mounted; empty at the root of its host. */
  readonly basePath: string;
  /** The CSRF token of the reader. */
  readonly csrf?: string;
  /** The language of the document. */
  readonly wording?: Wording;
  /** The role of the member who reads a page of the dashboard. */
  readonly reader?: Reader;
  readonly platforms?: ReachedPlatforms;
  /** Why a form of the page was refused, by its fields. */
  readonly problems?: ReadonlyArray<Problem>;
  /** The field, or the value of the button, that has the focus when the page opens. */
  readonly focus?: string | undefined;
  /** Whether the page answers a form that sent data. */
  readonly isPosted?: boolean | undefined;
}

/** What people call the platforms. @internal */
export interface ReachedPlatforms {
  readonly chat: string;
  readonly game: string;
  /** Whether the game finds accounts by user name; left out on pages for players and members. */
  readonly hasGameNames?: boolean;
  /** Returns the URL of a guild's page on the chat platform, on pages for players and members. */
  readonly chatHome?: ((guildId: GuildId | null) => string) | null;
}

/**
 * A field with a wrong value, and the reason: as core says it in English, with its code, or in the words of the page.
 *
 * @internal
 */
export interface Problem {
  readonly name: string;
  readonly reason: string | Html;
  readonly expected?: Expected;
}

/** A language in which documents are worded. @internal */
export interface Wording {
  readonly tag: string;
  readonly has: (key: string) => boolean;
  readonly say: (key: string, values?: Readonly<Record<string, unknown>>) => Html;
  /** English, for parts that have no other language; absent in English itself. */
  readonly english?: Wording;
}

/** Markup that needs no escaping. */
export class Html {
  /** Renders the markup for a place. @internal */
  readonly at: (place: Place) => string;

  /** @param source trusted markup */
  constructor(source: string | Html["at"]) {
    this.at = typeof source === "string" ? () => source : source;
  }

  /** The markup at the root of its host. */
  get source(): string {
    return this.at({ basePath: "" });
  }
}

/** Renders what depends on the place. @internal */
export const inPlace = (render: (place: Place) => Html): Html => new Html((place) => render(place).at(place));

type Part = Html | string | number | null | false | ReadonlyArray<Html>;

/** Makes HTML from a template. Null and false render as nothing, a list as its items. */
export const html = (texts: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html((place) => {
    // A loop takes half the time of `String.raw` with the rendered parts.
    let source = texts[0] ?? "";
    for (let index = 0; index < parts.length; index++)
      source += sourceOf(parts[index] ?? null, place) + (texts[index + 1] ?? "");
    return source;
  });

const sourceOf = (part: Part, place: Place): string => {
  if (part === null || part === false) return "";
  if (part instanceof Html) return part.at(place);
  if (typeof part !== "object") return escape(String(part));
  let source = "";
  for (const item of part) source += item.at(place);
  return source;
};

/** Writes the address of a link, a form or a file. A path of this service gets the base path. @internal */
export const to = (address: string): Html =>
  new Html(({ basePath }) => escape(address.startsWith("/") ? basePath + address : address));

/** Makes the hidden fields of a form. @internal */
export const hiddenFields = (values: Readonly<Record<string, string>>): Html =>
  html`${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

/**
 * Makes a form from a template of its content. It sends data of a signed-in reader, with their CSRF token.
 *
 * @param values hidden fields
 * @internal
 */
export const formTo =
  (
    action: string,
    values: Readonly<Record<string, string>> = {},
    attributes: Html | null = null,
  ): typeof html =>
  (...content) =>
    html`
<form method="post" action="${to(action)}"${attributes}>
<input type="hidden" name="csrf" value="${new Html(({ csrf = "" }) => escape(csrf))}">
${hiddenFields(values)}
${html(...content)}
</form>`;

/** Makes a section with a title from a template of its content. @internal */
export const section =
  (title: string | Html, id: string | null = null): typeof html =>
  (...content) =>
    html`
<section${id !== null && html` id="${id}"`}>
<h2>${title}</h2>
${html(...content)}
</section>`;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Escapes a text, and drops direction overrides. Names on the platforms can have them, and would reverse the text that
 * follows, such as an ID.
 */
const escape = (text: string): string =>
  text.replace(/[&<>"'\u202A-\u202E\u2066-\u2069]/g, (character) => entities[character] ?? "");
