/** The page /docs in a real browser. */
import { routes } from "@accountlink/http-api";
import { isProof } from "@accountlink/test-servers";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServer, startServerHere } from "../support/server.ts";
import { openPage, startBrowser, type WatchedPage } from "./browser.ts";
import { contentWidth, desktop, phone, schemeOf } from "./looks.ts";

let server: RunningServer | undefined;
let browser: Browser | undefined;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServerHere({ fixture: {} }), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const openDocs = async (url: string, look: BrowserContextOptions): Promise<WatchedPage> => {
  const opened = await openPage(browser as Browser, `${url}/docs`, look);
  await opened.page.getByRole("heading", { name: "accountlink" }).waitFor();
  await opened.page.getByText(lastSummary).first().waitFor({ state: "attached" });
  await tryButton(opened.page).waitFor();
  return opened;
};

const tryButton = (page: Page) =>
  page.getByRole("button", { name: /Test Request.*get \/v2\/chat/is }).first();

const lastSummary = routes.at(-1)?.summary as string;

/** Sends the request that the page shows for `GET /v2/chat`, and gives the status of its answer. */
const tryOut = async ({ page }: WatchedPage): Promise<number> => {
  await tryButton(page).click();
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === "/v2/chat");
  await page.getByRole("button", { name: /^Send/i }).first().click();
  return (await answered).status();
};

/** Each size and each scheme once, the second in the proof only: the page is slow to build itself. */
const cases = [
  { size: "wide", ...desktop, colorScheme: "light" },
  { size: "narrow", ...phone, colorScheme: "dark" },
] as const;

describe.each(isProof ? cases : cases.slice(0, 1))(
  "/docs, $size and $colorScheme",
  ({ size, viewport, colorScheme }) => {
    let opened: WatchedPage | undefined;
    const watched = (): WatchedPage => opened as WatchedPage;

    beforeAll(async () => {
      opened = await openDocs(server?.url as string, { viewport, colorScheme });
    });

    afterAll(() => opened?.close());

    it("lists every route", async () => {
      const { page, keepPicture } = watched();
      await keepPicture(`docs-${size}-${colorScheme}`);
      const text = (await page.locator("body").textContent()) ?? "";
      const isMissing = ({ path, summary }: (typeof routes)[number]) =>
        !text.includes(path.replaceAll(/:(\w+)/g, "{$1}")) || !text.includes(summary);
      expect(routes.filter(isMissing).map(({ id }) => id)).toEqual([]);
    });

    it("has the colours that the reader asks for", async () => {
      expect(await schemeOf(watched().page)).toBe(colorScheme);
    });

    it("loads with no complaint", () => {
      expect(watched().complaints).toEqual([]);
    });

    it("tries a request out", async () => {
      expect(await tryOut(watched())).toBe(401);
    });

    it("has asked nothing of another host", () => {
      expect(watched().foreignRequests).toEqual([]);
    });

    it("fits a phone", async () => {
      const onPhone = await openDocs(server?.url as string, phone);
      expect(await contentWidth(onPhone.page)).toBe(phone.viewport.width);
      await onPhone.close();
    });
  },
);

describe("/docs of the demo, on a phone", () => {
  let demo: RunningServer | undefined;
  let opened: WatchedPage | undefined;

  beforeAll(async () => {
    demo = await startServer({ fixture: "demo" });
    opened = await openDocs(demo.url, phone);
  });

  afterAll(async () => {
    await opened?.close();
    await demo?.stop();
  });

  it("fits", async () => {
    await opened?.keepPicture("docs-demo");
    expect(await contentWidth(opened?.page as Page)).toBe(phone.viewport.width);
  });

  it("is answered at the first try", async () => {
    expect(await tryOut(opened as WatchedPage)).toBe(200);
  });
});
