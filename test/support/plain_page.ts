/**
 * Pages as a browser without scripts shows them: links, buttons and fields are found by their words, and forms are sent
 * as their markup says. This takes far less processor time than a real browser.
 */
import { onTestFinished } from "vitest";
import { openBrowser, titleOf } from "./flow_browser.ts";
import type { Answer } from "./http.ts";
import { around, decoded, type Element, nameOf, parsed, textIn, within, wordsOf } from "./markup.ts";
import { type Entries, fieldNamed, fieldsOf, formAround, valueOf } from "./plain_form.ts";

const fits = (text: string, name: string | RegExp) =>
  typeof name === "string" ? text.toLowerCase().includes(name.toLowerCase()) : name.test(text);

/** The words of the smallest part around an element that has these words; empty without a wish. */
const placeOf = (element: Element, words: string | RegExp) =>
  words === ""
    ? ""
    : around(element)
        .filter(({ tag }) => /^(?:li|tr|form|section|details)$/.test(tag))
        .map((place) => wordsOf(place))
        .find((place) => fits(place, words));

export type PlainPage = Awaited<ReturnType<typeof openPlainPage>>;

/** Opens a page of a site that asks for a sign-in, and signs in as the user on the platform's button. */
export const signedIn = async (service: string, from: string, path: string, as: RegExp) => {
  const page = await openPlainPage(service, from, path);
  await page.press(as);
  return page;
};

/**
 * Opens a page in a browser of its own, which follows redirects also to other sites.
 *
 * @param service the URL of the service
 * @param from the client address that the service sees
 */
export const openPlainPage = async (service: string, from: string, path: string) => {
  const browser = openBrowser(() => service, from);
  onTestFinished(browser.close);
  let answer: Answer;
  let url = service;
  let root = parsed("");
  let clicks = 0;

  const parts = (tag: string, words: string | RegExp = "") =>
    within(root).filter((each) => each.tag === tag && fits(nameOf(each), words));
  const shownWords = () => wordsOf(parts("main")[0] ?? root);

  /** Returns the words of the page. */
  const follow = async (next: string, send: (to: string) => Promise<Answer>) => {
    url = new URL(next, url).href;
    answer = await send(url);
    for (let hops = 0; answer.headers.location !== undefined; hops++) {
      if (hops === 10) throw new Error(`Cannot open ${next}: it redirects again and again`);
      url = new URL(answer.headers.location, url).href;
      answer = await browser.get(url);
    }
    root = parsed(answer.text);
    return shownWords();
  };
  const goto = (to: string) => follow(to, (next) => browser.get(next));

  const submit = async (button: Element, entries: Entries) => {
    const form = formAround(button);
    if (form === undefined) throw new Error(`Cannot press "${wordsOf(button)}": it has no form`);
    const { action = url, method, enctype } = form.attributes;
    const fields = fieldsOf(button, form, entries);
    if (method === "post" && enctype === "multipart/form-data") {
      return follow(action, (to) => browser.post(to, fields));
    }
    const query = new URLSearchParams(
      [...fields].filter((field): field is [string, string] => typeof field[1] === "string"),
    ).toString();
    return method === "post"
      ? follow(action, (to) => browser.post(to, query))
      : goto(`${action.replace(/[?#].*/, "")}?${query}`);
  };

  await goto(path);
  return {
    /** Opens a path of the service, and returns the words of the page. */
    goto: (to: string) => goto(new URL(to, service).href),
    reload: () => goto(url),
    /**
     * Follows a link, or sends the form of a button, and returns the words of the page that follows.
     *
     * @param entries what to enter before, by the labels of the fields
     * @param beside words of the list item, row or section with the button
     */
    press: async (name: string | RegExp, entries: Entries = {}, beside: string | RegExp = "") => {
      const named = within(root)
        .filter(({ tag, attributes }) => tag === "button" || (tag === "a" && "href" in attributes))
        .filter((each) => fits(nameOf(each), name))
        .map((each) => ({ each, place: placeOf(each, beside) }))
        .filter(({ place }) => place !== undefined)
        .toSorted((one, other) => (one.place ?? "").length - (other.place ?? "").length)
        .map(({ each }) => each);
      clicks++;
      const exact = named.find((each) => nameOf(each) === name);
      const target = exact ?? named[0];
      if (target === undefined) throw new Error(`Cannot press "${name}" on ${url}: ${wordsOf(root)}`);
      return target.tag === "a" ? goto(target.attributes["href"] ?? "") : submit(target, entries);
    },
    value: (name: string) => valueOf(fieldNamed(name, within(root))),
    all: (tag: string, words?: string | RegExp) => parts(tag, words).map(nameOf),
    textOf: (id: string) =>
      textIn(within(root).find(({ attributes }) => attributes["id"] === id) ?? root).trim(),
    /** The markup of the page in the first frame. */
    get shown() {
      return within(root).find(({ tag }) => tag === "iframe")?.attributes["srcdoc"] ?? "";
    },
    get url() {
      return url;
    },
    get path() {
      return new URL(url).pathname;
    },
    /** How many links and buttons were pressed. */
    get clicks() {
      return clicks;
    },
    get answer() {
      return answer;
    },
    get title() {
      return decoded(titleOf(answer.text));
    },
    /** The words that the page shows, also in closed parts. */
    get words() {
      return shownWords();
    },
  };
};
