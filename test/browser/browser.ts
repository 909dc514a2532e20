/** A real browser, and pages that remember what they did. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, type BrowserContextOptions, chromium as launcher, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

/** How long a browser may take for anything on a busy machine, in milliseconds. */
const timeout = 120_000;

const installed = ["/usr/bin/chromium", "/usr/bin/google-chrome"].filter((path) => existsSync(path));

/** The browser that comes with the tests, which is for Linux, or else the one of the machine. */
export const startBrowser = async (): Promise<Browser> => {
  const problems: Array<string> = [];
  for (const find of [() => chromium.executablePath(), ...installed.map((path) => async () => path)]) {
    try {
      // Pages of a test are our own; a sandbox would need rights that a container does not have.
      return await launcher.launch({ executablePath: await find(), args: ["--no-sandbox"], timeout });
    } catch (cause) {
      problems.push(String(cause));
    }
  }
  throw new Error(`Cannot start a browser: ${problems.join("\n")}`);
};

export const useBrowser = (): (() => Browser) => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return () => browser as Browser;
};

/** Why no browser keeps whole pages for its back button here, or null: for the title of a skip. */
export const whyNoKeptPages: string | null =
  installed.length === 0
    ? "without an installed Chromium: the one of the tests has no back/forward cache"
    : null;

/** A browser that keeps whole pages for its back button, as those of users do. */
export const startBrowserWithKeptPages = (): Promise<Browser> =>
  launcher.launch({
    executablePath: installed[0] ?? "",
    args: ["--no-sandbox", "--headless=new"],
    timeout,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });

/** A page, and what must not have happened on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Requests that went to another origin than the page's own. */
  readonly foreignRequests: ReadonlyArray<string>;
  /** Errors and warnings of the console, and what was thrown and not caught. */
  readonly complaints: ReadonlyArray<string>;
  /** Keeps a picture of all of it, when `ACCOUNTLINK_TEST_SCREENSHOTS` names a folder for them. */
  readonly keepPicture: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens a page and watches it from its first request on. */
export const openPage = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<WatchedPage> => {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(timeout);
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
