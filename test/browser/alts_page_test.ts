import { paths, withQuery } from "@accountlink/pages/dashboard";
import { expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { hostile, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const owned = { account: "acme", scope: "global" } as const;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const [home, library] = ["203.0.113.7", "203.0.113.8"];

const { visit, url } = useDashboard((fixture) => ({
  ...fixture,
  accounts: [{ name: "acme", chatId: "100001", tier: "premium" }],
  keys: [{ ...owned, key: newToken() }],
  links: [
    { ...owned, chatId: "100001", gameId: "1" },
    { ...owned, chatId: "100002", gameId: "1" },
    ...Array.from({ length: 30 }, (_, i) => ({ ...owned, chatId: String(300_001 + i), gameId: "9" })),
  ],
  sightings: [
    { ...owned, chatId: "100001", ip: home, device: "laptop", seenAt: daysAgo(9) },
    { ...owned, chatId: "100002", ip: home, device: "laptop", seenAt: daysAgo(3.1) },
    { ...owned, chatId: "100001", ip: library, seenAt: daysAgo(5) },
    { ...owned, chatId: "100003", ip: library, seenAt: daysAgo(1.1) },
  ],
}));

it("the alts page explains matches in words, and saves and lists reviews", async () => {
  const page = await visit(paths.alts, /Ada\b/, desktop);
  await expectUsable(page, "Alts", "dashboard-alts-empty");
  await page.getByLabel("User", { exact: true }).fill("@ada");
  await press(page, "Look for alts");
  await expectUsable(page, "Alts", "dashboard-alts");
  await page.getByRole("heading", { name: "Ada 100001" }).waitFor();
  const found = await page.locator("main").innerText();
  for (const reason of [
    "Same account on the game platform (1)",
    "Same browser, 3 days ago",
    "An address shared by 2 people, 3 days ago",
    "An address shared by 2 people, yesterday",
    "Score 98 of 100",
    "98 of 100\n",
    hostile,
  ]) {
    expect(found).toContain(reason);
  }
  expect(await page.content()).not.toMatch(/203\.0\.113/);

  const newcomer = page.getByRole("listitem").filter({ hasText: "100003" });
  await newcomer.getByLabel("Note").fill(`Said so ${hostile}`);
  await newcomer.getByRole("button", { name: "Different people" }).click();
  await page.getByText("Your review is saved.").waitFor();
  await expectUsable(page, "Alts", "dashboard-alts-reviewed");
  const reviews = page.getByRole("region", { name: "Reviews of this user" });
  expect(await reviews.innerText()).toMatch(
    /Newcomer\s+100003\s+Different people\s+An address shared by 2 people, yesterday\s+Said so .*Ada\s+100001/s,
  );
  expect(await page.getByRole("listitem").filter({ hasText: "Newcomer" }).count()).toBe(0);

  await page.getByRole("button", { name: "Take back the review of 100003" }).click();
  await page.getByText("The review is deleted.").waitFor();
  const again = page.getByRole("listitem").filter({ hasText: "Newcomer" });
  await again.getByRole("button", { name: "Same person" }).click();
  await again.getByText("Ada decided this.").waitFor();
  await expectUsable(page, "Alts", "dashboard-alts-decided");
  expect(await again.getByRole("button").allTextContents()).toEqual(["Take back"]);
  await again.getByRole("link", { name: /Newcomer/ }).click();
  await press(page, "Possible alts of this user");
  await page.getByRole("heading", { name: "Newcomer 100003" }).waitFor();
});

it("the alts page says if a user name is unknown or a game account is not linked", async () => {
  const page = await visit(withQuery(paths.alts, { kind: "chat", id: "nobody" }), /Ada\b/, phone);
  const refusal = await page.getByRole("alert").textContent();
  expect(refusal).toContain("nobody was found");
  expect(refusal).not.toContain("saved");
  await page.goto(`${url()}${withQuery(paths.alts, { kind: "game", id: "77" })}`);
  await page.getByText("Nobody is linked to this account on the game platform").waitFor();
  await expectUsable(page, "Alts", "dashboard-alts-nobody");
  await page.goto(`${url()}${withQuery(paths.alts, { kind: "chat", id: "100009" })}`);
  await page.getByText("Nothing is known of this user").waitFor();
  expect(await page.getByText("Score").count()).toBe(0);
});

it("the alts page says how many accounts were compared, and which of them are listed", async () => {
  const page = await visit(withQuery(paths.alts, { kind: "game", id: "9" }), /Ada\b/, phone);
  await page
    .getByText("29 accounts were compared with this one. The 25 seen most recently are listed")
    .waitFor();
  await expectUsable(page, "Alts", "dashboard-alts-many");
});
