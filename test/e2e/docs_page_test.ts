/** The page /docs in a real browser. */
import { routes } from "@accountlink/http-api";
import { isProof } from "@accountlink/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { openPage, startBrowser, type WatchedPage } from "./browser.ts";
import { desktop, phone, schemeOf } from "./looks.ts";

let server: RunningServer | undefined;
let browser: Browser | undefined;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServerHere({ fixture: {} }), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

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
      opened = await openPage(browser as Browser, `${server?.url}/docs`, { viewport, colorScheme });
      await opened.page.getByRole("heading", { name: "accountlink" }).waitFor();
    });

    afterAll(() => opened?.close());

    it("lists every route", async () => {
      const { page, keepPicture } = watched();
      await page
        .getByText(routes.at(-1)?.summary as string)
        .first()
        .waitFor({ state: "attached" });
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
      const { page } = watched();
      await page
        .getByRole("button", { name: /Test Request.*get \/v2\/chat/is })
        .first()
        .click();
      const answered = page.waitForResponse((response) => new URL(response.url()).pathname === "/v2/chat");
      await page.getByRole("button", { name: /^Send/i }).first().click();
      expect((await answered).status()).toBe(401);
    });

    it("has asked nothing of another host", () => {
      expect(watched().foreignRequests).toEqual([]);
    });
  },
);
