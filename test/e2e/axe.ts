/**
 * Accessibility of a page, as axe-core judges it.
 */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** What is wrong on the page: the rule, and where it is broken. */
export const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  // The pages allow no script of their own; what the debugger evaluates is not theirs.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<Pick<axe.AxeResults, "violations">>("axe.run(document)");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
