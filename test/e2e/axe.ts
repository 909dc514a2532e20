/**
 * Accessibility of a page, as axe-core judges it.
 */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** What is wrong on the page: the rule, and where it is broken. */
export const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  // The pages allow no script of their own; what the debugger evaluates is not theirs.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  // Only what is looked at leaves the page: what passes is long.
  return page.evaluate<ReadonlyArray<string>>(`
    axe.run(document, { resultTypes: ["violations"], iframes: false }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`);
};
