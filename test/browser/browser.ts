/** Opens pages in a real browser, and records their errors and their requests to other origins. */
import { join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as launcher,
  type Page,
} from "playwright-core";
import { afterAll, expect, onTestFinished } from "vitest";
import type { PlainPage } from "../support/plain_page.ts";
import { installed, startBrowser, timeout } from "./start_browser.ts";

let started: Promise<Browser> | undefined;

/** Starts one browser for all test files of a worker. */
export const sharedBrowser = (): Promise<Browser> => (started ??= startBrowser());

/**
 * The reason to skip tests that need a back/forward cache, for the titles of these tests. Null if a browser with such a
 * cache is installed.
 */
export const whyNoKeptPages: string | null =
  installed.length === 0 ? "without an installed Chromium: the packaged one has no back/forward cache" : null;

/** Starts a browser with a back/forward cache, like browsers of users. */
export const startBrowserWithKeptPages = (): Promise<Browser> =>
  launcher.launch({
    executablePath: installed[0] ?? "",
    args: ["--no-sandbox", "--headless=new"],
    timeout,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });

interface PageRecord {
  /** URLs of requests to other origins. */
  readonly foreignRequests: Array<string>;
  /** Console errors, console warnings and uncaught exceptions. */
  readonly complaints: Array<string>;
}

const records = new WeakMap<Page, PageRecord>();

/** The record of a page that `openPage` opened. */
export const recordOf = (page: Page) => records.get(page) as PageRecord;

/** Saves a screenshot of the whole page if `ACCOUNTLINK_TEST_SCREENSHOTS` names a folder. */
export const keepPicture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env["ACCOUNTLINK_TEST_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
};

/** The ID or the text of the element with the focus. */
export const focused = (page: Page) =>
  page.evaluate<string>(
    "(({ id, innerText }) => id || innerText)(document.querySelector(':focus') ?? { innerText: '' })",
  );

/** Presses Tab until this element has the focus, and expects a visible focus. */
export const reach = async (page: Page, name: RegExp): Promise<void> => {
  for (let tabs = 0; !name.test(await focused(page)); tabs++) {
    if (tabs === 60) throw new Error(`Cannot reach ${name} with the keyboard`);
    await page.keyboard.press("Tab");
  }
  expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).not.toBe("none");
};

/**
 * Opens a page for one test, and records its errors and requests from the start.
 *
 * @param prepare runs before the page opens, for example to sign in
 */
export const openPage = async (
  url: string,
  options: BrowserContextOptions,
  prepare: (context: BrowserContext) => Promise<void> = async () => undefined,
): Promise<Page> => {
  const context = await (await sharedBrowser()).newContext(options);
  onTestFinished(() => context.close());
  context.setDefaultTimeout(timeout);
  await prepare(context);
  const page = await context.newPage();
  record(page, new URL(url).origin);
  await page.goto(url);
  return page;
};

const record = (page: Page, origin: string): void => {
  const { foreignRequests, complaints }: PageRecord = { foreignRequests: [], complaints: [] };
  records.set(page, { foreignRequests, complaints });
  const watch = (requested: string) => {
    if (!requested.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(requested))
      foreignRequests.push(requested);
  };
  page.on("request", (request) => watch(request.url()));
  page.on("websocket", (socket) => watch(socket.url()));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
};

export type Shown = Pick<PlainPage, "url" | "answer">;

let tab: Promise<Page> | undefined;

/** Shows the markup of a plain page, without its scripts, in a tab that all tests of a file share. */
export const show = async ({ url, answer }: Shown): Promise<Page> => {
  const page = await (tab ??= sharedBrowser().then((browser) => browser.newPage({ bypassCSP: true })));
  const { origin } = new URL(url);
  // Files of the page are at paths of its site, and the browser keeps them for the next page.
  if (!page.url().startsWith(`${origin}/`)) await page.goto(`${origin}/robots.txt`);
  record(page, origin);
  await page.setContent(answer.text.replaceAll(/<script[^>]*><\/script>/g, ""));
  return page;
};

/** Closes the tab after the tests of a file. A server would otherwise wait for its connections before it stops. */
export const closeTab = (): void => {
  afterAll(async () => {
    await (await tab)?.close();
    tab = undefined;
  });
};
