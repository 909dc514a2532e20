/** The demo with much data at a fixed time, and a browser that looks at it. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { startBrowser, timeout } from "../browser/start_browser.ts";

const fileOf = (path: string) => fileURLToPath(import.meta.resolve(path));

export interface Stage {
  readonly url: string;
  readonly browser: Browser;
  /** Opens a window without scripts of the given size. */
  readonly open: (size: { readonly width: number; readonly height: number }, scale?: number) => Promise<Page>;
  readonly close: () => Promise<void>;
}

export const setStage = async (): Promise<Stage> => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-pictures-"));
  const program = ["--import", fileOf("./fixed_time.mjs"), fileOf("../../apps/server/main.ts")];
  const server = spawn(process.execPath, [...program, "serve", "--data=big", "--port=0"], {
    env: {
      ACCOUNTLINK_DATA_DIR: folder,
      ACCOUNTLINK_LOG_LEVEL: "warn",
      // The clock stands still, so limits that refill with time have to be off.
      ACCOUNTLINK_IP_PER_SECOND: "0",
      ACCOUNTLINK_IP_PAGES_PER_SECOND: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  let url = "";
  for await (const line of createInterface(server.stdout)) {
    url = /^listening on (.*)$/.exec(line)?.[1] ?? "";
    if (url !== "") break;
  }
  if (url === "") throw new Error("Cannot take pictures: the demo did not start");
  server.stdout.resume();
  const browser = await startBrowser();
  return {
    url,
    browser,
    open: async (viewport, scale = 2) => {
      const context = await browser.newContext({
        viewport,
        deviceScaleFactor: scale,
        javaScriptEnabled: false,
        locale: "en-GB",
        timezoneId: "UTC",
        reducedMotion: "reduce",
      });
      context.setDefaultTimeout(timeout);
      return context.newPage();
    },
    close: async () => {
      await browser.close();
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
