/** The pages of webhooks, with a local receiver. */

import { paths } from "@accountlink/pages/dashboard";
import { runUntil, startHttpServer } from "@accountlink/test-servers";
import { afterAll, expect, it } from "vitest";
import { useDashboard } from "./dashboard_pages.ts";
import { expectUsable } from "./looks.ts";

const { open } = useDashboard();

let status = 200;
const receiver = await runUntil(afterAll)(startHttpServer(() => ({ status })));

it("a webhook is created, tested, paused, rotated and deleted", async () => {
  const page = await open(paths.webhooks, /^A?\s*Ada\b/);
  const expectPage = (title: string, picture: string) => expectUsable(page, title, `webhook-${picture}`);

  await expectPage("Webhooks", "none");
  await page.press("Create a webhook");
  await expectPage("Create a webhook", "new");
  await page.press("Create the webhook", {
    Community: "Rook & Bishop",
    URL: "http://example.invalid/links",
    Description: "Our database",
  });
  await expectPage("Create a webhook", "refused");
  expect(page.value("Description")).toBe("Our database");
  await page.press("Create the webhook", { URL: `${receiver.url}/links` });
  await expectPage("Your new webhook", "issued");
  const [secret = ""] = /whsec_[\w+/=]+/.exec(page.words) ?? [];
  expect(secret).not.toBe("");
  await page.press("I have copied it");
  expect(page.answer.text).not.toContain(secret);

  await page.press("Send a test");
  expect(page.words).toContain("The event was delivered.");
  status = 500;
  await page.press("Send a test");
  expect(page.words).toContain("The delivery failed");
  await expectPage("Our database", "deliveries");
  await page.press(/^test$/);
  await expectPage("Delivery of test", "delivery");
  expect(page.words).toMatch(/Status 500 Type \S+ Time/);
  expect(page.words).toMatch(/webhook-id: evt_\w+ webhook-timestamp: \d+ webhook-signature: v1,… /);
  expect(page.words).toContain('"type": "test"');
  status = 200;
  await page.press("Our database");
  await page.press("Show", { Which: "given_up" });
  expect(page.words).toContain("Answered 500");
  await page.press("Send again");
  expect(page.words).toContain("The event was delivered.");

  await page.press("Save", { "A link was removed": true });
  expect(page.words).toContain("The webhook was changed.");
  await page.press("Pause the webhook");
  expect(page.words).toMatch(/The webhook is paused\..* kept\. Paused /);
  await page.press("Activate the webhook");
  expect(page.words).toContain("The webhook is active again.");
  await page.press("Rotate the secret");
  await expectPage("The new secret of your webhook", "rotated");
  await page.press("I have copied it");

  status = 410;
  await page.press("Send a test");
  expect(page.words).toContain("Your server answered 410");
  await expectPage("Our database", "disabled");
  await page.goto(paths.overview);
  expect(page.words).toContain("was disabled");
  await page.goto(paths.audit);
  expect(page.words).toContain("Ada created the webhook Our database");
  await page.goto(paths.webhooks);
  await expectPage("Webhooks", "list");

  await page.press("Our database");
  await page.press("Delete the webhook");
  expect(page.words).toContain("tick the box to delete it");
  await page.press("Delete the webhook", { "Delete it for good": true });
  expect(page.words).toContain("The webhook was deleted.");
});
