import { paths, withQuery } from "@accountlink/pages/dashboard";
import { expect, it } from "vitest";
import { daysAgo, newToken } from "../support/fixtures.ts";
import { hostile, useDashboard } from "./dashboard_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const owned = { account: "acme", scope: "global" } as const;
const [home, library] = ["203.0.113.7", "203.0.113.8"];

const { open, visit } = useDashboard(() => ({
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
  const page = await open(paths.alts, /Ada\b/);
  await expectUsable(page, "Alts", "dashboard-alts-empty");
  await page.press("Look for alts", { User: "@ada" });
  await expectUsable(page, "Alts", "dashboard-alts");
  expect(page.all("h2", "Ada")).toEqual(["Ada 100001"]);
  for (const reason of [
    "Same account on the game platform (1)",
    "Same browser, 3 days ago",
    "An address shared by 2 people, 3 days ago",
    "An address shared by 2 people, yesterday",
    "Score 98 of 100",
    hostile,
  ]) {
    expect(page.words).toContain(reason);
  }
  expect(page.answer.text).not.toContain("203.0.113");

  await page.press("Different people", { Note: `Said so ${hostile}` }, "100003");
  expect(page.words).toContain("Your review is saved.");
  await expectUsable(page, "Alts", "dashboard-alts-reviewed");
  expect(page.words).toMatch(
    /Newcomer 100003 Different people An address shared by 2 people, yesterday Said so .*Ada 100001/,
  );
  expect(page.all("li", "Newcomer")).toEqual([]);

  expect(await page.press("Take back the review of 100003")).toContain("The review is deleted.");
  await page.press("Same person", {}, "Newcomer");
  const [decided] = page.all("li", "Newcomer");
  expect(decided).toMatch(/Ada decided this\..*Take back$/);
  await expectUsable(page, "Alts", "dashboard-alts-decided");
  await page.press(/^Newcomer/);
  await page.press("Possible alts of this user");
  expect(page.all("h2", "Newcomer")).toEqual(["Newcomer 100003"]);
  expect(await page.goto(paths.audit)).toContain("Ada took back the review of Ada (100001) and Newcomer");
});

it("the alts page says if a user name is unknown or a game account is not linked", async () => {
  const page = await open(withQuery(paths.alts, { kind: "chat", id: "nobody" }), /Ada\b/);
  expect(page.words).toContain("nobody was found");
  expect(page.words).not.toContain("saved");
  await page.goto(withQuery(paths.alts, { kind: "game", id: "77" }));
  expect(page.words).toContain("Nobody is linked to this account on the game platform");
  await expectUsable(page, "Alts", "dashboard-alts-nobody");
  await page.goto(withQuery(paths.alts, { kind: "chat", id: "100009" }));
  expect(page.words).toContain("Nothing is known of this user");
  expect(page.words).not.toContain("Score");
});

it("Enter in a note decides nothing", async () => {
  const page = await visit(withQuery(paths.alts, { kind: "game", id: "9" }), /Ada\b/, desktop);
  await page.evaluate(
    `addEventListener("submit", (event) => { event.preventDefault(); window.sent = true; })`,
  );
  await page.getByLabel("Note").first().fill("They asked me in private");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("'sent' in window")).toBe(false);
});

it("the alts page says how many accounts were compared, and which of them are listed", async () => {
  const page = await open(withQuery(paths.alts, { kind: "game", id: "9" }), /Ada\b/);
  expect(page.words).toContain(
    "29 accounts were compared with this one. The 25 seen most recently are listed",
  );
  await expectUsable(page, "Alts", "dashboard-alts-many");
});
