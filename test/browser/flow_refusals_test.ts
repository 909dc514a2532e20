/**
 * Each refusal page of the public verification flow in a real browser, taken from the dashboard's preview.
 * `test/contract` tests how users reach these pages.
 */
import { paths } from "@accountlink/pages/dashboard";
import { type RefusalName, refusals } from "@accountlink/pages/flow/refusals";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { english } from "../support/english.ts";
import type { WatchedPage } from "./browser.ts";
import { useDashboard } from "./dashboard_pages.ts";
import { press, signIn, useFlowPages } from "./flow_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const { visit: visitDashboard, url } = await useDashboard();
const { newSession, visit } = await useFlowPages();

describe("the page of a refusal", () => {
  let watched: WatchedPage;

  beforeAll(async () => {
    watched = await visitDashboard(paths.preview, /Ada\b/, phone);
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

  it("the page of a link that does not work leads to the field for a code", async () => {
    const { page, close } = await visit("/verify?sid=unknown", phone);
    await press(page, "Enter a code");
    await expect.poll(() => page.title()).toBe("Enter your code");
    await close();
  });

  it("a refusal page shows the signed-in user, and leads back to the start", async () => {
    const { sid } = await newSession({ chatId: "100002" });
    const visited = await visit(`/verify?sid=${sid}`, phone);
    const { page, close } = visited;
    await signIn(page, "chat", /User 1\b/);
    await expectUsable(visited, english.text("refusal.wrong_user.title"), "refused-account");
    await press(page, english.text("refusal.other_account"));
    await expect.poll(() => page.title()).toBe("Link your accounts");
    await close();
  });
});
