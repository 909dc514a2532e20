/** Makes HTML from template literals. Interpolated values are escaped unless they are `Html`. */

/** Markup that needs no escaping. */
export class Html {
  readonly source: string;

  /** @param source trusted markup */
  constructor(source: string) {
    this.source = source;
  }
}

type Part = Html | string | number | null | ReadonlyArray<Html>;

/** Makes HTML from a template. Null renders as nothing, a list as its items. */
export const html = (texts: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(String.raw({ raw: texts }, ...parts.map(sourceOf)));

const sourceOf = (part: Part): string => {
  if (part === null) return "";
  if (part instanceof Html) return part.source;
  return typeof part === "object" ? part.map(({ source }) => source).join("") : escape(String(part));
};

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

/** Adds the base path to the links, forms and files of a document. @internal */
export const documentBelow = (basePath: string, { source }: Html): Html =>
  // Interpolated quotes are escaped, so this pattern matches only attributes that templates wrote.
  new Html(source.replace(/ (href|action|src|data-leaves-for)="\//g, ` $1="${basePath}/`));
