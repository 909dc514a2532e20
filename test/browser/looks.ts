/** Checks pages in different window sizes and color schemes. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isProof } from "@accountlink/test-servers";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { keepPicture, recordOf } from "./browser.ts";

/** The source of axe in ASCII: with other characters, loading it into a page takes twice as long. */
const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8").replaceAll(
  /[^\0-\x7f]/g,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
);

/** Accessibility rules whose result depends on the window size or the colors of the page. */
const rulesOfLooks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/**
 * Returns the accessibility violations of the page, each as rule and element. The first call for a page checks all
 * rules. Later calls check only `rulesOfLooks`, except in proof runs.
 */
const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  const isKnown = await page.evaluate<boolean>("'axe' in window");
  if (!isKnown) {
    // The script goes through the debugger, so the pages' Content-Security-Policy does not block axe.
    const session = await page.context().newCDPSession(page);
    await session.send("Runtime.evaluate", { expression: source });
    await session.detach();
  }
  const rules = isKnown && !isProof ? { runOnly: rulesOfLooks } : {};
  // Return only violations, because the list of passed rules is long.
  return page.evaluate<ReadonlyArray<string>>(`
    axe.run(document, { ...${JSON.stringify(rules)}, resultTypes: ["violations"], iframes: false }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`);
};

export const phone = { viewport: { width: 390, height: 844 } };
export const desktop = { viewport: { width: 1280, height: 800 } };

const phoneLight = { look: "phone-light", ...phone, colorScheme: "light" } as const;
const phoneDark = { look: "phone-dark", ...phone, colorScheme: "dark" } as const;
const desktopLight = { look: "desktop-light", ...desktop, colorScheme: "light" } as const;
const desktopDark = { look: "desktop-dark", ...desktop, colorScheme: "dark" } as const;

/**
 * The window sizes and color schemes in which pages are tested. Two combinations cover each size and each scheme. Only
 * proof runs test all four.
 */
const looks = isProof ? [phoneLight, phoneDark, desktopLight, desktopDark] : [phoneLight, desktopDark];

/** The narrowest supported window: a phone, or a desktop window at 400 percent zoom. */
const narrowest = { width: 320, height: 640 };

const schemeOf = async (page: Page): Promise<"light" | "dark"> => {
  const ground = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [red = 0, green = 0, blue = 0] = (ground.match(/\d+/g) ?? []).map(Number);
  return (red + green + blue) / 3 > 127 ? "light" : "dark";
};

/** The width of the page's content, including overflow. */
export const contentWidth = (page: Page): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth");

/**
 * Expects the page to have this title and no accessibility violation, and to fit the window, in each tested window size
 * and color scheme.
 */
export const expectUsable = async (page: Page, title: string, name: string): Promise<void> => {
  const heading = page.getByRole("heading", { level: 1 });
  await expect.poll(() => heading.textContent().catch(() => null)).toBe(title);
  // Titles of the dashboard and the dev platform end with the name of the site.
  expect((await page.title()).replace(/ – (?:accountlink|dev platform)$/, "")).toBe(title);
  const size = page.viewportSize() ?? narrowest;
  for (const { look, viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await keepPicture(page, `${name}-${look}`);
    expect({
      look,
      scheme: await schemeOf(page),
      width: await contentWidth(page),
      findings: await axeFindings(page),
    }).toEqual({ look, scheme: colorScheme, width: viewport.width, findings: [] });
  }
  await page.setViewportSize(narrowest);
  expect(await contentWidth(page)).toBe(narrowest.width);
  await page.setViewportSize(size);
  // Browsers log a console error for each refused request.
  expect(
    recordOf(page).complaints.filter(
      (text) => !text.includes("Failed to load resource: the server responded"),
    ),
  ).toEqual([]);
};

/** Checks only the main heading of the page. axe, which checks accessibility, cannot run on a page without scripts. */
const expectHeading: typeof expectUsable = async (page, title) =>
  expect(await page.locator("h1").textContent()).toBe(title);

/** The two ways to test a page: with scripts on a desktop, and without scripts on a phone. */
export const scriptings = [
  ["with scripts, on a desktop", desktop, true, expectUsable],
  ["without scripts, on a phone", phone, false, expectHeading],
] as const;
