/** The pages of who may link, who is blocked and who has not linked, in a real browser. */
import { expect, it } from "vitest";
import { createKey, ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { visit, send, url } = useDashboard();

it("an owner sets the age of accounts, blocks both accounts of a link, ends a block, and sees who has not linked", async () => {
  const page = await visit("/dashboard", /Ada\b/, desktop);
  const key = await createKey(page, "Bot", ownGuild);
  const body = { chatId: "100002", gameId: "2", guildId: ownGuild };
  expect((await send("PATCH /v2/game", { key, body })).status).toBe(200);

  await page.goto(`${url()}/dashboard/communities`);
  await press(page, "Rook & Bishop");
  await page.getByLabel("Days that a game account must exist").fill("soon");
  await page.locator("#admission").getByRole("button", { name: "Save" }).click();
  await page.getByText("Expected a whole number from 0 to 3650 or nothing.").waitFor();
  await page.getByLabel("Days that a game account must exist").fill("30");
  await page.locator("#admission").getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. It holds for new links").waitFor();

  await page.goto(`${url()}/dashboard/links`);
  await page.getByRole("link", { name: "Members who have not linked" }).click();
  await expectUsable(page, "Not linked", "unlinked");
  await page.getByText("1 of 2").waitFor();

  await page.goto(`${url()}/dashboard/links`);
  await page.locator("table a").first().click();
  await page.locator("#block a.button").click();
  await expectUsable(page, "Block?", "block-question");
  await page.getByText("This removes 1 link").waitFor();
  await page.getByLabel("Reason").fill("Raids");
  await page.getByRole("button", { name: "Block", exact: true }).click();
  await page.getByText("Blocked. Verifications").waitFor();
  await expectUsable(page, "Blocked users", "blocks");
  expect(await page.locator("table tbody tr").count()).toBe(2);
  expect(await page.getByText("Raids").count()).toBe(2);
  expect((await send("PATCH /v2/game", { key, body })).status).toBe(409);
  await page
    .getByRole("button", { name: /No longer block/ })
    .first()
    .click();
  await page.getByText("The user may verify again").waitFor();
  expect(await page.locator("table tbody tr").count()).toBe(1);
});

it("the pages work on a phone", async () => {
  const page = await visit("/dashboard/links/blocks", /Ada\b/, phone);
  await expectUsable(page, "Blocked users", "blocks-phone");
});
