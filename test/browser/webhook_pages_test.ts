/** The pages of webhooks in a real browser, with a local receiver. */

import { paths } from "@accountlink/pages/dashboard";
import { runUntil, startHttpServer } from "@accountlink/test-servers";
import { afterAll, expect, it } from "vitest";
import { ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const { visit, url } = useDashboard();

let status = 200;
const receiver = await runUntil(afterAll)(startHttpServer(() => ({ status })));

it("a webhook is created, tested, paused, rotated and deleted", async () => {
  const page = await visit(paths.webhooks, /^A?\s*Ada\b/, desktop);
  const expectPage = (title: string, picture: string) => expectUsable(page, title, `webhook-${picture}`);

  await expectPage("Webhooks", "none");
  await page.getByText("Create a webhook").click();
  await expectPage("Create a webhook", "new");
  await page.getByLabel("Community", { exact: true }).selectOption(ownGuild);
  await page.getByLabel("URL", { exact: true }).fill("http://example.invalid/links");
  await page.getByLabel("Description").fill("Our database");
  await press(page, "Create the webhook");
  await expectPage("Create a webhook", "refused");
  await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/links`);
  await press(page, "Create the webhook");
  await expectPage("Your new webhook", "issued");
  const secret = (await page.locator("#secret").textContent()) ?? "";
  expect(secret).toMatch(/^whsec_/);
  await page.getByText("I have copied it").click();
  expect(await page.content()).not.toContain(secret);

  await press(page, "Send a test");
  await page.getByText("The event was delivered.").waitFor();
  status = 500;
  await press(page, "Send a test");
  await page.getByText("The delivery failed").waitFor();
  await expectPage("Our database", "deliveries");
  await page.getByRole("link", { name: "test", exact: true }).first().click();
  await expectPage("Delivery of test", "delivery");
  const sent = (await page.getByRole("main").textContent()) ?? "";
  expect(sent).toMatch(/Status500\s+Type\S+\s+Time/);
  expect(sent).toMatch(/webhook-id: evt_\w+\nwebhook-timestamp: \d+\nwebhook-signature: v1,…\n/);
  expect(sent).toContain('"type": "test"');
  await page.goBack();
  status = 200;
  await page.getByLabel("Which").selectOption("given_up");
  await press(page, "Show");
  await page.getByText("Answered 500").waitFor();
  await press(page, "Send again");
  await page.getByText("The event was delivered.").waitFor();

  await page.getByText("Only some events").click();
  await page.getByLabel("A link was removed").check();
  await press(page, "Save");
  await page.getByText("The webhook was changed.").waitFor();
  await press(page, "Pause the webhook");
  await page.getByText("The webhook is paused.").waitFor();
  expect(await page.locator(".badge").first().textContent()).toBe("Paused");
  await press(page, "Activate the webhook");
  await page.getByText("The webhook is active again.").waitFor();
  await press(page, "Rotate the secret");
  await expectPage("The new secret of your webhook", "rotated");
  await page.getByText("I have copied it").click();

  status = 410;
  await press(page, "Send a test");
  await page.getByText("Your server answered 410").first().waitFor();
  await expectPage("Our database", "disabled");
  await page.goto(`${url()}${paths.overview}`);
  await page.getByText("was disabled").waitFor();
  await page.goto(`${url()}${paths.audit}`);
  await page
    .getByText(/^Ada created the webhook Our database$/)
    .first()
    .waitFor();
  await page.goto(`${url()}${paths.webhooks}`);
  await expectPage("Webhooks", "list");
  await page.getByRole("link", { name: "Our database" }).click();

  await press(page, "Delete the webhook");
  await page.getByText("tick the box to delete it").first().waitFor();
  await page.getByLabel("Delete it for good").check();
  await press(page, "Delete the webhook");
  await page.getByText("The webhook was deleted.").waitFor();
});
