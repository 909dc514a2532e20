/** A user with links in several lists: pages name each list, and one button unlinks the user in all lists. */
import { expect, it } from "vitest";
import { accountOf, daysAgo } from "../support/fixtures.ts";
import { twoLists, useDashboard } from "./dashboard_pages.ts";
import { expectUsable } from "./looks.ts";

const { open } = useDashboard(() => ({
  accounts: [accountOf({ name: "engine", chatId: "100001", tier: "premium", team: { 100006: "moderator" } })],
  ...twoLists("engine", ["100002", "100003", "100004", "100007"]),
  sightings: ["100001", "100006", "100007"].map((chatId) => ({
    account: "engine",
    scope: "global",
    chatId,
    ip: "203.0.113.7",
    device: "laptop",
    seenAt: daysAgo(1),
  })),
}));

it("a user's page shows the links of the user in all lists, and removes one or all of them", async () => {
  const page = await open("/dashboard", /Ada\b/);
  expect(page.words).toContain("Shared list Linked 4 ");
  expect(page.words).toContain("Rook & Bishop Linked 4 ");
  expect(await page.goto("/dashboard/links")).toContain("4 links in the shared list; 8 in all lists");
  expect(page.title).toBe("Links · Shared list – accountlink");
  expect(await page.press("Unlink the selected")).toContain("No user was selected.");

  await page.goto("/dashboard/links/user?chatId=100003");
  await expectUsable(page, "Newcomer", "lists-user");
  expect(page.words).toContain("Linked in 2 lists");
  await page.press("Unlink Newcomer (100003) in the shared list");
  expect(page.words).toContain("The user stays linked in Rook & Bishop.");
  await expectUsable(page, "Unlink?", "lists-unlink");
  await page.press("Unlink the accounts");
  expect(page.words).toContain("The accounts are no longer linked in the shared list.");
  expect(page.words).toContain("Linked in one list");
});

it("a wrong account is refused on the page of the user, the present one is not asked about, and an unlink is undone", async () => {
  const page = await open("/dashboard/links/user?chatId=100007", /Ada\b/);
  const game = "Account on the game platform";
  await page.press("Link this account instead", { [game]: "987654321" });
  expect(page.words).toContain("nobody was found with this ID");
  expect(page.value(game)).toBe("987654321");
  await expectUsable(page, "Linus", "lists-user-refused");
  await page.press("Link this account instead", { [game]: "1" });
  expect(page.words).toContain("These accounts are linked already. Nothing was changed.");
  await page.press(/^Unlink Linus \(100007\) in the shared list/);
  await page.press("Unlink the accounts");
  await page.press("Undo: link them again");
  expect(page.words).toMatch(/The link is back as it was\..*Linked in 2 lists/);
});

it("the rows that are ticked are unlinked", async () => {
  const page = await open("/dashboard/links", /Ada\b/);
  await page.press("Unlink the selected", { "Select Busy (100004)": true });
  expect(page.words).toContain("Busy (100004) from Player 1 (1)");
  expect(await page.press("Unlink the accounts")).toContain("no longer linked in the shared list.");
  await page.goto("/dashboard/links");
  expect([page.all("tr", "Busy"), page.all("tr", "100002").length]).toEqual([[], 1]);
});

it("a search in every list says how each list was searched, also those in which nobody was found", async () => {
  const page = await open("/dashboard/links?q=mallo", /Ada\b/);
  await expectUsable(page, "Search", "lists-search-beginning");
  expect(page.words).toContain(
    "Shared list Searched by ID or whole user name. Who was found in another list is linked here too.",
  );
  expect(page.all("a", /^Unlink .*100002/)).toHaveLength(2);
  expect(page.words).toContain("Searched by ID, whole user name, or the beginning of a member’s name.");
  await page.goto("/dashboard/links?q=nobodys");
  expect(page.words).toContain("Nobody found in Shared list, searched by ID or whole user name");
  await page.goto("/dashboard/links.csv?pid=all&names=true");
  expect(page.answer.text).toMatch(
    /^list,chatId,chatName,gameId,gameName,lastVerifiedAt\r\n[^]*,100003,Newcomer,2,Player 2,/,
  );
});

it("a moderator finds a user's alts, reviews them and removes all links in at most eight clicks", async () => {
  const page = await open("/dashboard", /Grace\b/);
  await page.press("Search", { Find: "linus" });
  await page.press("Linus");
  await page.press("Possible alts of this user");
  expect(page.title).toBe("Alts · Shared list – accountlink");
  const [self] = page.all("li", "Grace");
  expect(self).toMatch(/You are one of the two, so someone else of your team decides\.$/);
  expect(await page.press("Same person")).toMatch(/Your review is saved\..*Grace decided this\./);
  await page.press(/^Linus/);
  await page.press("Unlink in every list");
  expect(page.title).toContain("Unlink in every list?");
  expect(page.words).toMatch(/Player 1 \(1\) in the shared list .*Player 2 \(2\) in Rook & Bishop/);
  expect(await page.press("Unlink in every list")).toContain("The user is no longer linked in any list.");
  expect(page.words).not.toContain("Linked in");
  expect(page.clicks - 1).toBeLessThanOrEqual(8);
  expect(await page.goto("/dashboard/audit")).toContain("Grace unlinked Linus");
});
