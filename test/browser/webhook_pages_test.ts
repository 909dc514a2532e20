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

  expect(await page.press("Send a test")).toContain("The event was delivered.");
  status = 500;
  expect(await page.press("Send a test")).toContain("The delivery failed");
  await expectPage("Our database", "deliveries");
  await page.press(/^test$/);
  await expectPage("Delivery of test", "delivery");
  expect(page.words).toMatch(/Status 500 Type \S+ Time/);
  expect(page.words).toMatch(/webhook-id: evt_\w+ webhook-timestamp: \d+ webhook-signature: v1,… /);
  expect(page.words).toContain('"type": "test"');
  status = 200;
  await page.press("Our database");
  expect(await page.press("Show", { Which: "given_up" })).toContain("Answered 500");
  expect(await page.press("Send again")).toContain("The event was delivered.");

  expect(await page.press("Save", { "A link was removed": true })).toContain("The webhook was changed.");
  expect(await page.press("Pause the webhook")).toMatch(/The webhook is paused\..* kept\. Paused /);
  expect(await page.press("Activate the webhook")).toContain("The webhook is active again.");
  const late = await open(page.path, /^A?\s*Ada\b/);
  await page.press("Rotate the secret");
  await expectPage("The new secret of your webhook", "rotated");
  await page.press("I have copied it");
  expect(page.words).toContain("signed with both secrets, and no longer with the earlier one.");
  expect(await late.press("Rotate the secret")).toContain("the secret was rotated after you opened the page");

  status = 410;
  expect(await page.press("Send a test")).toContain("Your server answered 410");
  await expectPage("Our database", "disabled");
  expect(await page.goto(paths.overview)).toContain("was disabled");
  expect(await page.goto(paths.audit)).toContain("Ada created the webhook Our database");
  await page.goto(paths.webhooks);
  await expectPage("Webhooks", "list");

  await page.press("Our database");
  expect(await page.press("Delete the webhook")).toContain("tick the box to delete it");
  await page.press("Delete the webhook", { "Delete it for good": true });
  expect(page.words).toContain("The webhook was deleted.");
});
