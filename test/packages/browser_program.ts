/** Runs programs that use the packages in a browser, bundled as a site would serve them. */
import { rolldown } from "rolldown";
import { expect } from "vitest";
import { startBrowser } from "../browser/start_browser.ts";
import { eventually } from "../support/eventually.ts";

/** Bundles a module, runs it in a page, and returns its log lines. */
export const runInBrowser = async (module: string): Promise<ReadonlyArray<string>> => {
  const bundle = await rolldown({ input: module, platform: "browser" });
  const { output } = await bundle.generate();
  await bundle.close();
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const lines: Array<string> = [];
    page.on("console", (message) => lines.push(message.text()));
    page.on("pageerror", (error) => lines.push(String(error)));
    // Web Crypto needs a secure context, and browsers treat the loopback address as one.
    const origin = "http://127.0.0.1";
    await page.route(`${origin}/main.js`, (route) =>
      route.fulfill({ contentType: "text/javascript", body: output[0].code }),
    );
    await page.route(`${origin}/`, (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<link rel="icon" href="data:,"><script type="module">await import("/main.js"); console.log("ended");</script>`,
      }),
    );
    await page.goto(`${origin}/`);
    await eventually(() => expect(lines.at(-1)).toMatch(/^ended$|Error/));
    return lines.at(-1) === "ended" ? lines.slice(0, -1) : lines;
  } finally {
    await browser.close();
  }
};
