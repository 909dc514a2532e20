/**
 * Each refusal page of the public verification flow in a real browser, taken from the dashboard's preview.
 * `test/contract` tests how users reach these pages.
 */
import { paths } from "@accountlink/pages/dashboard";
import { type RefusalName, refusals } from "@accountlink/pages/flow/refusals";
import { afterAll, beforeAll, describe, it } from "vitest";
import { english } from "../support/english.ts";
import type { WatchedPage } from "./browser.ts";
import { useDashboard } from "./dashboard_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const { visit, url } = await useDashboard();

describe("the page of a refusal", () => {
  let watched: WatchedPage;

  beforeAll(async () => {
    watched = await visit(paths.preview, /Ada\b/, phone);
  });

  afterAll(() => watched.close());

  it.each(Object.keys(refusals) as Array<RefusalName>)(
    "the refusal page fits a phone and is accessible: %s",
    async (name) => {
      const { page } = watched;
      await page.goto(`${url()}${paths.preview}?state=refused-${name}`);
      const body = (await page.locator("#shown").getAttribute("srcdoc")) ?? "";
      const address = `${url()}/verify/${name}`;
      await page.route(address, (route) =>
        route.fulfill({ status: refusals[name].status, contentType: "text/html; charset=utf-8", body }),
      );
      await page.goto(address);
      await expectUsable(watched, english.text(`refusal.${name}.title`), `refused-${name}`);
    },
  );
});
