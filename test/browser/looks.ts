/** The ways in which people look at a page. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isProof } from "@accountlink/test-servers";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { WatchedPage } from "./browser.ts";

/** Half as long as what the package exports, which takes longer to load into a page than to run. */
const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Rules whose outcome depends on the size and the colours of the page. */
const rulesOfLooks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/** What is wrong on the page: the rule, and where it is broken. A page in a second look is held to those of looks. */
const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  // The pages allow no script of their own; what the debugger evaluates is not theirs.
  const isKnown = await page.evaluate<boolean>("'axe' in window");
  if (!isKnown) await page.evaluate(source);
  const rules = isKnown && !isProof ? { runOnly: rulesOfLooks } : {};
  // Only what is looked at leaves the page: what passes is long.
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

/** Each size and each scheme; every pair of them takes twice the time. */
const looks = isProof ? [phoneLight, phoneDark, desktopLight, desktopDark] : [phoneLight, desktopDark];

/** The narrowest that a page has to fit in: a phone's, or a window's at 400 percent. */
const narrowest = { width: 320, height: 640 };

export const schemeOf = async (page: Page): Promise<"light" | "dark"> => {
  const ground = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [red = 0, green = 0, blue = 0] = (ground.match(/\d+/g) ?? []).map(Number);
  return (red + green + blue) / 3 > 127 ? "light" : "dark";
};

/** How wide a page is, beyond the edge of the window too. */
export const contentWidth = (page: Page): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth");

/** Expects a page that everybody can use, however they look at it. */
export const expectUsable = async (
  { page, complaints, keepPicture }: WatchedPage,
  title: string,
  name: string,
): Promise<void> => {
  const heading = page.getByRole("heading", { level: 1 });
  await expect.poll(() => heading.textContent().catch(() => null)).toBe(title);
  // Titles of the dashboard have the name of the site as well.
  expect((await page.title()).replace(/ – accountlink$/, "")).toBe(title);
  const size = page.viewportSize() ?? narrowest;
  for (const { look, viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await keepPicture(`${name}-${look}`);
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
  // That a page was refused is no complaint about the page.
  expect(
    complaints.filter((text) => !text.includes("Failed to load resource: the server responded")),
  ).toEqual([]);
};

/** What can be asked of a page without its scripts. */
const expectHeading: typeof expectUsable = async ({ page }, title) =>
  expect(await page.locator("h1").textContent()).toBe(title);

/** With scripts and without, each on the screen of one kind of machine. */
export const scriptings = [
  ["with scripts, on a desktop", desktop, true, expectUsable],
  ["without scripts, on a phone", phone, false, expectHeading],
] as const;
