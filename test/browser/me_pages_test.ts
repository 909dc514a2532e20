import { expect, it } from "vitest";
import { guild } from "../support/fixtures.ts";
import { press, useFlowPages } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { fixtures, visit } = await useFlowPages();

const at = "2026-01-02T03:04:05.000Z";
// Adds a second scope with links. `useFlowPages` has added the first.
fixtures.key({
  guildId: guild,
  links: { 100002: { gameId: "1", at }, 100003: { gameId: "1", at } },
  sightings: [
    { chatId: "100001", ip: "203.0.113.7", device: "phone", seenAt: new Date().toISOString() },
    { chatId: "100004", ip: "203.0.113.7", device: "phone", seenAt: new Date().toISOString() },
    { chatId: "100004", ip: "203.0.113.7", device: "computer", seenAt: new Date().toISOString() },
  ],
});

/** Signs in as a user and opens /me. */
const open = async (user: RegExp, options: Parameters<typeof visit>[1]) => {
  const page = await visit("/me", options);
  await page.getByRole("button", { name: user }).click();
  return page;
};

it("/me shows a user's links, and removes one", async () => {
  const page = await open(/User 2\b/, phone);
  await expectUsable(page, "Your data", "me-links");
  await page.getByRole("listitem").filter({ hasText: "Chess Club" }).locator("summary").click();
  await expectUsable(page, "Your data", "me-remove");
  await press(page, "Unlink");
  await expectUsable(page, "The link is removed", "me-removed");
  await page.getByText("The community’s log keeps an entry about the removal.").waitFor();
  await page.getByRole("link", { name: "Back to your data" }).click();
  await page.getByText("One community knows").waitFor();
});

it("/me shows how long browsers are remembered, and lets a user forget them without JavaScript", async () => {
  const page = await open(/User 4\b/, phone);
  await page.getByRole("heading", { name: "203.0.113.7" }).waitFor();
  expect(await page.getByText(/Used on .+ Remembered until/).count()).toBe(2);
  await expectUsable(page, "Your data", "me-browsers");

  const plain = await open(/User 1\b/, { ...phone, javaScriptEnabled: false });
  await plain.getByRole("heading", { name: "Browser 1" }).waitFor();
  await press(plain, "Forget this browser");
  await expect.poll(() => plain.title()).toBe("Your browsers are forgotten");
  await plain.getByRole("link", { name: "Back to your data" }).click();
  await expect.poll(() => plain.title()).toBe("Your data");
  expect(await plain.getByRole("heading", { name: "Browser 1" }).count()).toBe(0);
  const download = plain.waitForEvent("download");
  await plain.getByRole("button", { name: "Download your data" }).click();
  expect((await download).suggestedFilename()).toBe("my_data.json");
});

it("/me has no accessibility problem and fits the screen for a user without links", async () => {
  const page = await open(/User 5\b/, desktop);
  await expectUsable(page, "Your data", "me-none");
  await page.getByRole("link", { name: "Erase all your data" }).click();
  await expectUsable(page, "Erase everything?", "me-erase");
  await page.getByLabel("I want all of this to be erased.").check();
  await press(page, "Erase everything");
  await page.getByText("Nothing was stored about you.").waitFor();
  await expectUsable(page, "Everything is erased", "me-erased");
  await page.goto(new URL("/me/signed-out", page.url()).href);
  await expectUsable(page, "You are signed out", "me-signed-out");
});
