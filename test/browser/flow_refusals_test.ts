/**
 * Each refusal page of the public verification flow in a real browser, taken from the dashboard's preview.
 * `test/contract` tests how users reach these pages.
 */
import { paths } from "@accountlink/pages/dashboard";
import { type RefusalName, refusals } from "@accountlink/pages/flow/refusals";
import { describe, expect, it } from "vitest";
import { useDashboard } from "./dashboard_pages.ts";
import { press, signIn, useFlowPages } from "./flow_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const { visit: visitDashboard, url } = await useDashboard();
const { newSession, visit } = await useFlowPages();

describe("the page of a refusal", () => {
  it.each(Object.keys(refusals) as Array<RefusalName>)(
    "the refusal page fits a phone and is accessible: %s",
    async (name) => {
      const watched = await visitDashboard(`${paths.preview}?state=refused-${name}`, /Ada\b/, phone);
      const { page, close } = watched;
      const body = (await page.locator("#shown").getAttribute("srcdoc")) ?? "";
      await page.route("**/verify/refused", (route) =>
        route.fulfill({ status: refusals[name].status, contentType: "text/html; charset=utf-8", body }),
      );
      await page.goto(`${url()}/verify/refused`);
      await expectUsable(watched, refusals[name].title, `refused-${name}`);
      await close();
    },
  );

  it("a refusal page shows the signed-in user, and leads back to the start", async () => {
    const { sid } = await newSession({ chatId: "100002" });
    const watched = await visit(`/verify?sid=${sid}`, phone);
    const { page, close } = watched;
    await signIn(page, "chat", /User 1\b/);
    await expectUsable(watched, refusals.wrong_user.title, "refused-account");
    await press(page, refusals.wrong_user.again ?? "");
    await expect.poll(() => page.title()).toBe("Link your accounts");
    await close();
  });
});
