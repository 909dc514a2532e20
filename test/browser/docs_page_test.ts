import { routes } from "@accountlink/http-api";
import { isProof } from "@accountlink/test-servers";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { openPage, useBrowser, type WatchedPage } from "./browser.ts";
import { contentWidth, desktop, phone, schemeOf } from "./looks.ts";

let demo: RunningServer;

beforeAll(async () => {
  demo = await startServerHere({ fixture: "demo" });
});

afterAll(() => demo.stop());

const browser = useBrowser();

const openDocs = async (look: BrowserContextOptions): Promise<WatchedPage> => {
  const opened = await openPage(browser(), `${demo.url}/docs`, look);
  await opened.page.locator("h1", { hasText: "accountlink" }).waitFor();
  await opened.page.getByText(lastSummary).first().waitFor({ state: "attached" });
  await tryButton(opened.page).waitFor();
  return opened;
};

/** Finds a button by its text, because finding it by role takes seconds in this large page. */
const tryButton = (page: Page) =>
  page.locator("button", { hasText: /Test Request.*get \/v2\/chat/is }).first();

const lastSummary = routes.at(-1)?.summary as string;

/** Sends the page's example request for `GET /v2/chat`, and returns the status of its answer. */
const tryOut = async ({ page }: WatchedPage): Promise<number> => {
  await tryButton(page).click();
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === "/v2/chat");
  await page
    .locator("button", { hasText: /^\s*Send\b/i })
    .first()
    .click();
  return (await answered).status();
};

/** Only proof runs test both window sizes, because the page needs eight seconds of processor time to render. */
const cases = [
  { size: "narrow", ...phone, colorScheme: "dark" },
  { size: "wide", ...desktop, colorScheme: "light" },
] as const;

describe.each(isProof ? cases : cases.slice(0, 1))(
  "/docs of the demo, $size and $colorScheme",
  ({ size, viewport, colorScheme }) => {
    let opened: WatchedPage;

    beforeAll(async () => {
      opened = await openDocs({ viewport, colorScheme });
    });

    afterAll(() => opened.close());

    it("the docs page lists every route", async () => {
      await opened.keepPicture(`docs-${size}-${colorScheme}`);
      const text = (await opened.page.locator("body").textContent()) ?? "";
      const isMissing = ({ path, summary }: (typeof routes)[number]) =>
        !text.includes(path.replaceAll(/:(\w+)/g, "{$1}")) || !text.includes(summary);
      expect(routes.filter(isMissing).map(({ id }) => id)).toEqual([]);
    });

    it("the docs page uses the preferred color scheme", async () => {
      expect(await schemeOf(opened.page)).toBe(colorScheme);
    });

    it("the docs page fits the window", async () => {
      expect(await contentWidth(opened.page)).toBe(viewport.width);
    });

    it("the docs page loads without errors", () => {
      expect(opened.complaints).toEqual([]);
    });

    it("a request sent from the docs page succeeds without edits to the form", async () => {
      expect(await tryOut(opened)).toBe(200);
    });

    it("the docs page loads nothing from other hosts", () => {
      expect(opened.foreignRequests).toEqual([]);
    });
  },
);
