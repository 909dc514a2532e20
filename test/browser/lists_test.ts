/** A user who is linked in several lists: pages name each list, and one button unlinks the user in all lists. */
import { expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { visit, url } = useDashboard((fixture) => {
  const scopes = [{ scope: "global" }, { scope: "guild", guildId: ownGuild }] as const;
  const at = new Date(Date.now() - 86_400_000).toISOString();
  return {
    ...fixture,
    accounts: [
      {
        name: "engine",
        chatId: "100001",
        tier: "premium",
        members: [{ chatId: "100006", role: "moderator" }],
      },
    ],
    keys: scopes.map((scope) => ({ account: "engine", ...scope, key: newToken() })),
    links: scopes.flatMap((scope, index) =>
      ["100002", "100003", "100007"].map((chatId) => ({
        account: "engine",
        ...scope,
        chatId,
        gameId: String(index + 1),
        lastVerifiedAt: at,
      })),
    ),
    sightings: ["100001", "100006", "100007"].map((chatId) => ({
      account: "engine",
      scope: "global",
      chatId,
      ip: "203.0.113.7",
      device: "laptop",
      seenAt: at,
    })),
  };
});

it("a user's page shows the links of the user in all lists, and removes one or all of them", async () => {
  const page = await visit("/dashboard", /Ada\b/, desktop);
  const figure = page.locator(".figures > div").filter({ hasText: /^Links/ });
  expect(await figure.textContent()).toMatch(/in 2 lists\s*6/);
  await page.goto(`${url()}/dashboard/links`);
  await page.getByText("3 links in the shared list; 6 in all lists").waitFor();

  await page.goto(`${url()}/dashboard/links/user?chatId=100003`);
  await expectUsable(page, "Newcomer", "lists-user");
  await page.getByText("Linked in 2 lists").waitFor();
  await press(page, "Unlink Newcomer (100003) in Shared list");
  await page.getByText("The user stays linked in Rook & Bishop’s own list.").waitFor();
  await expectUsable(page, "Unlink?", "lists-unlink");
  await press(page, "Unlink the accounts");
  await page.getByText("The accounts are no longer linked in this list.").waitFor();
  await page.getByText("Linked in one list").waitFor();
});

it("without a selected user, the button for the selected users says what to do", async () => {
  const page = await visit("/dashboard/links", /Ada\b/, phone);
  await press(page, "Unlink the selected");
  await expect.poll(() => page.getByRole("status").textContent()).toMatch("No user was selected.");
});

it("a wrong account is refused on the page of the user, the present one is not asked about, and an unlink is undone", async () => {
  const page = await visit("/dashboard/links/user?chatId=100007", /Ada\b/, phone);
  const game = page.getByLabel("Account on the game platform");
  await game.fill("987654321");
  await press(page, "Link this account instead");
  await expect.poll(() => page.getByRole("alert").textContent()).toMatch("nobody was found with this ID");
  expect(await game.inputValue()).toBe("987654321");
  await expectUsable(page, "Linus", "lists-user-refused");
  await game.fill("1");
  await press(page, "Link this account instead");
  await page.getByText("These accounts are linked already. Nothing was changed.").waitFor();
  await press(page, /^Unlink Linus \(100007\) in Shared list/);
  await press(page, "Unlink the accounts");
  await press(page, "Undo: link them again");
  await page.getByText("The accounts are linked.").waitFor();
  await page.getByText("Linked in 2 lists").waitFor();
});

it("a search in every list says how each list was searched, also those in which nobody was found", async () => {
  const page = await visit("/dashboard/links?q=mallo", /Ada\b/, desktop);
  await expectUsable(page, "Search", "lists-search-beginning");
  const text = (await page.getByRole("main").innerText()).replaceAll(/\s+/g, " ");
  expect(text).toContain(
    "Shared list Searched by ID or whole user name. Who was found in another list is linked here too.",
  );
  expect(await page.getByRole("link", { name: /^Unlink .*100002/ }).count()).toBe(2);
  expect(text).toContain("Searched by ID, whole user name, or the beginning of a member’s name.");
  await page.goto(`${url()}/dashboard/links?q=nobodys`);
  const none = (await page.getByRole("main").innerText()).replaceAll(/\s+/g, " ");
  expect(none).toContain("Nobody found in Shared list, searched by ID or whole user name");
  const file = await page.context().request.get(`${url()}/dashboard/links.csv?pid=all&names=true`);
  expect(await file.text()).toMatch(
    /^list,chatId,chatName,gameId,gameName,lastVerifiedAt\r\n[^]*,100003,Newcomer,2,Player 2,/,
  );
});

it("a user is unlinked in all lists at once, without a script", async () => {
  const page = await visit("/dashboard/links/user?chatId=100002", /Ada\b/, {
    ...phone,
    javaScriptEnabled: false,
  });
  await press(page, "Unlink in every list");
  await page.getByText("Player 1 (1) in the shared list").waitFor();
  await page.getByText("Player 2 (2) in Rook & Bishop’s own list").waitFor();
  await press(page, "Unlink in every list");
  await page.getByText("The user is no longer linked in any list.").waitFor();
  expect(await page.getByText(/Linked in/).count()).toBe(0);
});

it("a moderator finds a user's alts, reviews them and removes all links in at most eight clicks", async () => {
  const page = await visit("/dashboard", /Grace\b/, phone);
  let clicks = 0;
  const click = async (name: string | RegExp) => {
    clicks++;
    await page
      .getByRole("main")
      .getByRole("link", { name })
      .or(page.getByRole("button", { name }))
      .first()
      .click();
  };
  await page.getByLabel("Find").fill("linus");
  await click("Search");
  await click("Linus");
  await click("Possible alts of this user");
  const self = page.getByRole("listitem").filter({ hasText: "Grace" });
  await self.getByText("You are one of the two, so someone else of your team decides.").waitFor();
  expect(await self.getByRole("button").count()).toBe(0);
  await click("Same person");
  await page.getByText("Your review is saved.").waitFor();
  await page.getByText("Grace decided this.").waitFor();
  await click(/^Linus/);
  await click("Unlink in every list");
  await page.getByRole("heading", { name: "Unlink in every list?" }).waitFor();
  await click("Unlink in every list");
  await page.getByText("The user is no longer linked in any list.").waitFor();
  expect(clicks).toBeLessThanOrEqual(8);
  await page.goto(`${url()}/dashboard/audit`);
  await page
    .getByText(/^Grace unlinked Linus/)
    .first()
    .waitFor();
});
