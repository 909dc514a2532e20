/** Starts a real browser, and records the errors of its pages and their requests to other origins. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as launcher,
  type Page,
} from "playwright-core";
import { afterAll, beforeAll } from "vitest";

/** The time limit of browser actions on a busy machine, in milliseconds. */
const timeout = 120_000;

const installed = ["/usr/bin/chromium", "/usr/bin/google-chrome"].filter((path) => existsSync(path));

const args = [
  // Turn off the sandbox, because it needs rights that a container does not have. The tests open only their own pages.
  "--no-sandbox",
  // Do not optimize scripts, and collect garbage in the main thread, because pages live only for seconds.
  "--js-flags=--single-threaded,--no-opt",
];

/** Starts the browser that a package brings for Linux, or else an installed browser. */
export const startBrowser = async (): Promise<Browser> => {
  const problems: Array<string> = [];
  for (const find of [() => chromium.executablePath(), ...installed.map((path) => async () => path)]) {
    try {
      return await launcher.launch({ executablePath: await find(), args, timeout });
    } catch (cause) {
      problems.push(String(cause));
    }
  }
  throw new Error(`Cannot start a browser: ${problems.join("\n")}`);
};

let started: Promise<Browser> | undefined;

/** Starts one browser for all test files of a worker, and closes the pages of a file after its last test. */
export const useBrowser = (): (() => Browser) => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    started ??= startBrowser();
    browser = await started;
  });
  afterAll(() => Promise.all(browser?.contexts().map((context) => context.close()) ?? []));
  return () => browser as Browser;
};

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

/** A page with a record of its errors and of its requests to other origins. */
export interface WatchedPage {
  readonly page: Page;
  readonly foreignRequests: ReadonlyArray<string>;
  /** Console errors, console warnings and uncaught exceptions. */
  readonly complaints: ReadonlyArray<string>;
  /** Saves a screenshot of the whole page if `ACCOUNTLINK_TEST_SCREENSHOTS` names a folder. */
  readonly keepPicture: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a page and records its errors and requests from the start.
 *
 * @param prepare runs before the page opens, for example to sign in
 */
export const openPage = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
  prepare: (context: BrowserContext) => Promise<void> = async () => undefined,
): Promise<WatchedPage> => {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(timeout);
  await prepare(context);
  const page = await context.newPage();
  const foreignRequests: Array<string> = [];
  const complaints: Array<string> = [];
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
  return {
    page,
    foreignRequests,
    complaints,
    keepPicture: async (name) => {
      const folder = process.env["ACCOUNTLINK_TEST_SCREENSHOTS"];
      if (folder === undefined) return;
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    },
    close: () => context.close(),
  };
};
