/** Renders Markdown as HTML: headings get anchors, and links between documents become links between pages. */
import { posix } from "node:path";
import { Marked } from "marked";

interface Section {
  /** Empty above the first heading. */
  readonly anchor: string;
  readonly title: string;
  /** Without markup, for the search. */
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly sections: ReadonlyArray<Section>;
}

/** Converts a link in a document to the link on its page. */
export type LinkTo = (href: string) => string;

/** The anchor of a heading, in the format of code hosts. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

export const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export type PictureAt = (href: string) => string;

/** Renders a document and inlines its pictures. */
export const render = (
  markdown: string,
  linkTo: LinkTo,
  pictureAt: PictureAt = (href) => {
    throw new Error(`Cannot show "${href}": only documents have pictures`);
  },
): Rendered => {
  const sections: Array<{ anchor: string; title: string; text: string }> = [
    { anchor: "", title: "", text: "" },
  ];
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === "heading") {
        const title = plain(token["text"] as string);
        sections.push({ anchor: anchorOf(title), title, text: "" });
      } else if (token.type === "text" || token.type === "code" || token.type === "codespan") {
        const last = sections.at(-1);
        if (last !== undefined && !("tokens" in token && token["tokens"] !== undefined))
          last.text += `${token["text"] as string} `;
      }
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(plain(text));
        const content = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${content}</a></h${depth}>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`;
      },
      image: ({ href }) => `<div class="wide">${pictureAt(href)}</div>`,
      link({ href, tokens }) {
        return `<a href="${escape(linkTo(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      table(token) {
        const row = (cells: typeof token.header, tag: "td" | "th") =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, sections };
};

const plain = (title: string): string => title.replace(/[`*]/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");

const repository = "https://github.com/accountlink/accountlink/blob/main/";

/**
 * Converts the links of a document: to another page of the site if there is one, otherwise to the repository.
 *
 * @param file the document, from the root
 * @param page the path of its page
 * @param pages the page of each document
 */
export const linksOf =
  (file: string, page: string, pages: ReadonlyMap<string, string>): LinkTo =>
  (href) => {
    if (/^[a-z]+:|^#/.test(href)) return href;
    const [path = "", anchor] = href.split("#");
    const target = posix.normalize(posix.join(posix.dirname(file), path));
    const at = pages.get(target);
    const hash = anchor === undefined ? "" : `#${anchor}`;
    return (at === undefined ? repository + target : posix.relative(posix.dirname(page), at)) + hash;
  };
