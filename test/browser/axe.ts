/** Accessibility of a page, as axe-core judges it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isProof } from "@accountlink/test-servers";
import type { Page } from "playwright-core";

/** Half as long as what the package exports, which takes longer to load into a page than to run. */
const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Rules whose outcome depends on the size and the colours of the page. */
const rulesOfLooks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/** What is wrong on the page: the rule, and where it is broken. A page in a second look is held to those of looks. */
export const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  // The pages allow no script of their own; what the debugger evaluates is not theirs.
  const isKnown = await page.evaluate<boolean>("'axe' in window");
  if (!isKnown) await page.evaluate(source);
  const rules = isKnown && !isProof ? { runOnly: rulesOfLooks } : {};
  // Only what is looked at leaves the page: what passes is long.
  return page.evaluate<ReadonlyArray<string>>(`
    axe.run(document, { ...${JSON.stringify(rules)}, resultTypes: ["violations"], iframes: false }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`);
};
