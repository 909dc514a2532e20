/** Starts a real browser, for tests and for the pictures of the documents. */
import { existsSync } from "node:fs";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as launcher } from "playwright-core";

/** The time limit of browser actions on a busy machine, in milliseconds. */
export const timeout = 120_000;

export const installed = ["/usr/bin/chromium", "/usr/bin/google-chrome"].filter((path) => existsSync(path));

const args = [
  // Turn off the sandbox, because it needs rights that a container does not have. The tests open only their own pages.
  "--no-sandbox",
  // Do not optimize scripts, and collect garbage in the main thread, because pages live only for seconds.
  "--js-flags=--single-threaded,--no-opt",
];

/** Starts the browser that a package brings for Linux, or else an installed browser. */
export const startBrowser = async (): Promise<Browser> => {
  const problems: Array<string> = [];
  for (const find of [() => chromium.executablePath(), ...installed.map((path) => async () => path)]) {
    try {
      return await launcher.launch({ executablePath: await find(), args, timeout });
    } catch (cause) {
      problems.push(String(cause));
    }
  }
  throw new Error(`Cannot start a browser: ${problems.join("\n")}`);
};
