/**
 * HTML made of template literals. Whatever is put in is text, unless it is HTML already.
 */

/** HTML that was made here, and needs no escaping. */
export class Html {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type Part = Html | string | number | null | ReadonlyArray<Html>;

/** A piece of HTML: `<p>${"Ada & Bob"}</p>` is `<p>Ada &amp; Bob</p>`. */
export const html = (texts: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(String.raw({ raw: texts }, ...parts.map(sourceOf)));

const sourceOf = (part: Part): string => {
  if (part === null) return "";
  if (part instanceof Html) return part.source;
  return typeof part === "object" ? part.map(({ source }) => source).join("") : escaped(String(part));
};

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
