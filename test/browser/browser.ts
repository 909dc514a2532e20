/** Opens pages in a real browser, and records their errors and their requests to other origins. */
import { join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as launcher,
  type Page,
} from "playwright-core";
import { onTestFinished } from "vitest";
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
  const { foreignRequests, complaints }: PageRecord = { foreignRequests: [], complaints: [] };
  records.set(page, { foreignRequests, complaints });
  const { origin } = new URL(url);
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
  await page.goto(url);
  return page;
};
