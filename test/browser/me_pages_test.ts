import { expect, it } from "vitest";
import { guild } from "../support/fixtures.ts";
import { useFlowPages } from "./flow_pages.ts";
import { expectUsable } from "./looks.ts";

const { fixtures, newSession, open, walk } = await useFlowPages();

const at = "2026-01-02T03:04:05.000Z";
// Adds a second scope with links. `useFlowPages` has added the first.
fixtures.key({
  guildId: guild,
  links: {
    100001: { gameId: "1", at, proof: "hand" },
    100002: { gameId: "1", at },
    100003: { gameId: "1", at },
    100004: { gameId: "1", at },
  },
  sightings: [
    { chatId: "100004", ip: "203.0.113.7", device: "phone", seenAt: new Date().toISOString() },
    { chatId: "100004", ip: "203.0.113.7", device: "computer", seenAt: new Date().toISOString() },
  ],
});

const proven = { gameId: "1", at: new Date().toISOString() } as const;
fixtures.key({ account: "Makers", links: { 100001: { ...proven, proof: "words" } } });
fixtures.key({ account: "Climbers", links: { 100001: { ...proven, proof: "known" } } });

it("a member's third community takes two presses, in its verification and on /me", async () => {
  const { pid } = await newSession();
  const flow = await walk(`/verify?pid=${pid}`);
  await flow.press("Sign in to the chat platform");
  await flow.press(/User 1\b/);
  const entered = flow.clicks;
  await flow.press("Use Player 1");
  await flow.press("Link these accounts");
  expect([flow.words, flow.clicks - entered]).toEqual([expect.stringContaining("linked"), 2]);

  const page = await open("/me", /User 1\b/);
  expect(page.words).toContain("These communities have no verified account of yours yet.");
  await expectUsable(page, "Your data", "me-known");
  const opened = page.clicks;
  await page.press("Use Player 1");
  await page.press("Link these accounts");
  expect(page.clicks - opened).toBe(2);
  await page.goto("/me");
  await page.press("Find my communities");
  expect(await page.press(/User 1\b/)).toContain("None of your other communities can use an account");
});

it("/me shows a user's links, and removes one", async () => {
  const page = await open("/me", /User 2\b/);
  await expectUsable(page, "Your data", "me-links");
  await page.press("Unlink", {}, "Chess Club");
  await expectUsable(page, "The link is removed", "me-removed");
  expect(page.words).toContain("The community’s log keeps an entry about the removal.");
  expect(page.words).not.toContain("from which you confirmed");
  expect(await page.press("Back to your data")).toContain("One community knows");
});

it("/me shows how long browsers are remembered", async () => {
  const page = await open("/me", /User 4\b/);
  expect(page.words.match(/Used on .+? Remembered until/g)).toHaveLength(2);
  await expectUsable(page, "Your data", "me-browsers");
  expect(await page.press("Unlink")).toContain("from which you confirmed stay until the days");
});

it("/me erases the data of a user without links", async () => {
  const page = await open("/me", /User 5\b/);
  await expectUsable(page, "Your data", "me-none");
  await page.press("Erase all your data");
  await expectUsable(page, "Erase everything?", "me-erase");
  await page.press("Erase everything", { "I want all of this to be erased.": true });
  expect(page.words).toContain("Nothing was stored about you.");
  await expectUsable(page, "Everything is erased", "me-erased");
  await page.goto("/me/signed-out");
  await expectUsable(page, "You are signed out", "me-signed-out");
});
