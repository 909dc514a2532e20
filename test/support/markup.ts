/** Reads the markup of pages, and the words that they show. */

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Array<Element | string>;
  readonly parent: Element | null;
}

const empty = /^(?:input|br|hr|img|meta|link|wbr)$/;
const inline = /^(?:a|abbr|b|bdi|button|code|em|i|kbd|small|span|strong|time)$/;

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
export const decoded = (text: string) =>
  text.replaceAll(/&(#?\w+);/g, (all, name: string) => entities[name] ?? all);

/** Reads markup in which every element that has content is closed, as the service and the dev platforms write it. */
export const parsed = (source: string): Element => {
  const root: Element = { tag: "root", attributes: {}, children: [], parent: null };
  let open = root;
  const tags = /<!.*?>|<(\/?)([a-z][\w-]*)((?:"[^"]*"|[^">])*)>|([^<]+)/gs;
  for (const [, slash, tag, written = "", text] of source.matchAll(tags)) {
    if (text !== undefined) open.children.push(decoded(text));
    else if (tag === undefined) continue;
    else if (slash === "/") {
      let closed = open;
      while (closed.tag !== tag && closed.parent !== null) closed = closed.parent;
      open = closed.parent ?? open;
    } else {
      const attributes = Object.fromEntries(
        [...written.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [
          name,
          decoded(value),
        ]),
      );
      const element: Element = { tag, attributes, children: [], parent: open };
      open.children.push(element);
      if (!empty.test(tag)) open = element;
    }
  }
  return root;
};

export const within = (element: Element): ReadonlyArray<Element> =>
  element.children.flatMap((child) => (typeof child === "string" ? [] : [child, ...within(child)]));

export const around = (element: Element): ReadonlyArray<Element> =>
  element.parent === null ? [element] : [element, ...around(element.parent)];

const isShown = ({ tag, attributes }: Element) =>
  !/^(?:script|style|head)$/.test(tag) && !("hidden" in attributes);

export const textIn = (element: Element, isRead = isShown): string => {
  const text = element.children
    .map((child) => (typeof child === "string" ? child : isRead(child) ? textIn(child, isRead) : ""))
    .join("");
  return inline.test(element.tag) ? text : ` ${text} `;
};

export const wordsOf = (element: Element, isRead = isShown) =>
  textIn(element, isRead).replaceAll(/\s+/g, " ").trim();

export const nameOf = (element: Element) => element.attributes["aria-label"] ?? wordsOf(element);
