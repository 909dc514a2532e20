/** Checks pages in different window sizes and color schemes. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProof } from "@accountlink/test-servers";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { checkedPagesOf } from "../support/checked_pages.ts";
import { titleOf } from "../support/flow_browser.ts";
import { decoded } from "../support/markup.ts";
import { keepPicture, recordOf, type Shown, show } from "./browser.ts";

/** The source of axe in ASCII: with other characters, loading it into a page takes twice as long. */
const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8").replaceAll(
  /[^\0-\x7f]/g,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
);

/** Outside of the proof, `theme_test.ts` alone computes contrasts: axe takes half of its time for them. */
const rules = { "color-contrast": { enabled: isProof } };

/** Returns the accessibility violations of the page, each as rule and element. */
const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  const isKnown = await page.evaluate<boolean>("'axe' in window");
  if (!isKnown) {
    // The script goes through the debugger, so the pages' Content-Security-Policy does not block axe.
    const session = await page.context().newCDPSession(page);
    await session.send("Runtime.evaluate", { expression: source });
    await session.detach();
  }
  // Return only violations, because the list of passed rules is long.
  return page.evaluate<ReadonlyArray<string>>(`
    axe.run(document, { resultTypes: ["violations"], iframes: false, rules: ${JSON.stringify(rules)} }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`);
};

/** Boxes and links of tables that are less than 24 pixels high. axe lets them pass where they stand apart. */
const smallTargets = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`
    [...document.querySelectorAll(":is(th, td) > a, [type=checkbox], [type=radio]")]
      .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 24)
      .map((target) => target.outerHTML)`);

export const phone = { viewport: { width: 390, height: 844 } };
export const desktop = { viewport: { width: 1280, height: 800 } };

/** The narrowest supported window: a phone, or a desktop window at 400 percent zoom. */
export const narrowest = { viewport: { width: 320, height: 640 } };

const narrow = [{ look: "narrow", ...narrowest, colorScheme: "light" }] as const;

/** Only the proof tests every size in both color schemes. `theme_test.ts` computes the contrast of both. */
const looks = isProof
  ? (["light", "dark"] as const).flatMap((colorScheme) => [
      { look: `phone-${colorScheme}`, ...phone, colorScheme },
      { look: `desktop-${colorScheme}`, ...desktop, colorScheme },
      { look: `narrow-${colorScheme}`, ...narrowest, colorScheme },
    ])
  : narrow;

/** A folder for each title that a worker of this run has checked. Only the proof checks each state of a page. */
const checked = checkedPagesOf(process.ppid);

const isUnchecked = (title: string): boolean => {
  mkdirSync(checked, { recursive: true });
  try {
    mkdirSync(join(checked, encodeURIComponent(title)));
    return true;
  } catch {
    return false;
  }
};

const schemeOf = async (page: Page): Promise<"light" | "dark"> => {
  const ground = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [red = 0, green = 0, blue = 0] = (ground.match(/\d+/g) ?? []).map(Number);
  return (red + green + blue) / 3 > 127 ? "light" : "dark";
};

export const contentWidth = (page: Page): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth");

/** Titles of the dashboard and the dev platform end with the name of the site. */
const withoutSite = (title: string): string =>
  title.replace(/(?: · .*)? – (?:accountlink|dev platform)$/, "");

/**
 * Expects the page to have this title and no accessibility violation, and to fit each tested window. Outside of the
 * proof, only the title of a page that was checked before.
 */
export const expectUsable = async (shown: Page | Shown, title: string, name: string): Promise<void> => {
  const isNew = isProof || isUnchecked(title);
  if ("answer" in shown && !isNew) {
    expect(withoutSite(decoded(titleOf(shown.answer.text)))).toBe(title);
    return;
  }
  const page = "answer" in shown ? await show(shown) : shown;
  const heading = page.getByRole("heading", { level: 1 });
  await expect.poll(() => heading.textContent().catch(() => null)).toBe(title);
  expect(withoutSite(await page.title())).toBe(title);
  if (!isNew) return;
  const size = page.viewportSize() ?? narrowest.viewport;
  for (const { look, viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await keepPicture(page, `${name}-${look}`);
    expect({
      look,
      scheme: await schemeOf(page),
      width: await contentWidth(page),
      findings: await axeFindings(page),
      small: await smallTargets(page),
    }).toEqual({ look, scheme: colorScheme, width: viewport.width, findings: [], small: [] });
  }
  await page.setViewportSize(size);
  // Browsers log a console error for each refused request.
  expect(
    recordOf(page).complaints.filter(
      (text) => !text.includes("Failed to load resource: the server responded"),
    ),
  ).toEqual([]);
};
