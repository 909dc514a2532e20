/** The pages of communities and links in a real browser. Common tasks must not need too many clicks. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { createKey, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** One owner has 30 links: 10 were verified this week and 15 in the week before. */
const { visit, send, url } = useDashboard((fixture) => ({
  ...fixture,
  accounts: [{ name: "crowd", chatId: "100004", tier: "free" }],
  keys: [{ account: "crowd", scope: "global", key: newToken() }],
  links: Array.from({ length: 30 }, (_, index) => ({
    account: "crowd",
    scope: "global",
    chatId: String(200_001 + index),
    gameId: "1",
    lastVerifiedAt: daysAgo(index < 10 ? 1 : index < 25 ? 8 : 20),
  })),
}));

const counting = (page: Page) => {
  let clicks = 0;
  return {
    click: async (name: string | RegExp) => {
      clicks++;
      await press(page, name);
      await page.waitForLoadState();
    },
    clicks: () => clicks,
  };
};

const link = async (key: string, chatId: string, gameId: string) => {
  const linked = await send("PATCH /v2/game", { key, body: { chatId, gameId } });
  expect(linked.status).toBe(200);
};

it("a new owner needs at most eleven clicks and no key from the sign-in to a member with a role", async () => {
  const page = await visit("/dashboard", null, desktop);
  await press(page, /Ada\b/);
  await expectUsable(page, "Overview", "steps-overview");
  await page.goto(`${url()}/dashboard/communities`);
  await expectUsable(page, "Communities", "communities-empty");
  await page.goto(`${url()}/dashboard`);
  const { click, clicks } = counting(page);
  await click("Set up Rook & Bishop");
  await page.getByLabel("gets the role").selectOption({ label: "Member" });
  await click("See what changes, then turn on");
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await click("Try it as a member");
  const channel = page.url();
  const roles = page.locator("#roles");
  expect(await roles.textContent()).toBe("none");
  await page.getByLabel("Command").fill("/verify");
  await click("Send");
  await click("Verify");
  await expectUsable(page, "Link your accounts", "steps-verify");
  await click("Sign in to the chat platform");
  await click(/Ada\b/);
  await click("Sign in to the game platform");
  await click(/Player 2\b/);
  await click("Link these accounts");
  await expect.poll(() => page.title()).toBe("Your accounts are linked");
  // Choosing the role counts as one click.
  expect(clicks() + 1).toBeLessThanOrEqual(11);
  await page.goto(channel);
  await expect.poll(() => page.reload().then(() => roles.textContent())).toBe("Member");
  await page.goto(`${url()}/dashboard/communities`);
  await expectUsable(page, "Communities", "communities");
  const add = page.getByRole("link", { name: "Add the bot to Without the bot" });
  expect(await add.getAttribute("href")).toContain("700000000000000003");
  await press(page, "Rook & Bishop");
  await expectUsable(page, "Rook & Bishop", "community");
  await page.goto(`${url()}/dashboard/links`);
  await page.getByText("1 link in Rook & Bishop").waitFor();
});

it("an owner previews and saves the texts of a community, and sees errors at the fields", async () => {
  const page = await visit("/dashboard", /Newcomer/, phone);
  await createKey(page, "Bot");
  await page.goto(`${url()}/dashboard/communities`);
  await press(page, "Shared list");
  const steps = page.locator(".steps > .done strong");
  expect(await steps.allTextContents()).toEqual([]);
  await expectUsable(page, "Shared list", "community-new");
  const [beginning, end] = [page.frameLocator("iframe >> nth=0"), page.frameLocator("iframe >> nth=1")];
  await beginning.getByText("Newcomer asks you").waitFor();
  await page.getByLabel("Name of your community").fill("The <Rook> Club");
  await beginning.getByText("The <Rook> Club asks you").waitFor();
  await page.getByLabel("Message at the end").fill("Say hello.");
  await press(page, "Update the preview");
  await beginning.getByText("The <Rook> Club asks you").waitFor();
  await end.getByText("Say hello.").waitFor();
  await page.getByLabel("Help page").fill("help.example");
  await press(page, "Save");
  await page
    .getByRole("alert")
    .getByText(/begins with https:/)
    .waitFor();
  await expectUsable(page, "Shared list", "community-refused");
  await page.getByLabel("Help page").fill("https://help.example/");
  await press(page, "Save");
  await page.getByText("Saved. Users see it from now on.").waitFor();
  expect(await page.getByLabel("Name of your community").inputValue()).toBe("The <Rook> Club");
});

it("the dashboard counts the links verified in a week, and lists many links in pages", async () => {
  const page = await visit("/dashboard", /Busy/, phone);
  const figure = page.locator(".figures > div").filter({ hasText: "Verified in seven days" });
  expect(await figure.locator("dd").textContent()).toBe("10");
  expect(await figure.locator("small").textContent()).toBe("−33 % against the week before");
  await page.goto(`${url()}/dashboard/links`);
  await page.getByText("30 links in the shared list").waitFor();
  await expectUsable(page, "Links", "links-many");
  await press(page, "Older links");
  await expect.poll(() => page.getByRole("row").count()).toBe(1 + 5);
  await press(page, "Newer links");
  await expect.poll(() => page.getByRole("row").count()).toBe(1 + 25);
  expect(await page.getByRole("link", { name: "Newer links" }).count()).toBe(0);
  await press(page, "Oldest");
  await expect.poll(() => page.getByRole("row").count()).toBe(1 + 25);
  expect(await page.getByRole("link", { name: "Older links" }).count()).toBe(0);
  await press(page, "Newest");
  await page.getByText("Order and day").click();
  await page.getByLabel("Verified until").fill(daysAgo(15).slice(0, 10));
  await press(page, "Search");
  await expect.poll(() => page.getByRole("row").count()).toBe(1 + 5);
  await page.getByLabel("Tick all on this page").check();
  expect(await page.getByRole("checkbox", { name: /^Select /, checked: true }).count()).toBe(5);
  await page.getByText("An account is shown by its ID alone").waitFor();
  await page.getByLabel("Order", { exact: true }).selectOption("By name");
  await press(page, "Search");
  await page.getByText("Each page is sorted for itself").waitFor();
  // The platform does not know this user, so the row names the user by ID alone.
  await expect.poll(() => page.getByRole("rowheader").first().textContent()).toBe("200026");
  await page.setViewportSize({ width: 320, height: 800 });
  await page.goto(`${url()}/dashboard/links`);
  await page.getByRole("rowheader").first().waitFor();
  expect((await page.getByRole("rowheader").first().boundingBox())?.y).toBeLessThan(800);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${url()}/dashboard/links?q=1`);
  await press(page, "Unlink all that were found");
  await page.getByRole("heading", { name: "Unlink 30 users?" }).waitFor();
  await press(page, "Unlink 30 users");
  await page.getByText("The selected users are no longer linked in this list.").waitFor();
  await page.getByText("Nobody is linked yet.").waitFor();
  await page.reload();
  await page.getByText("Nobody is linked yet.").waitFor();
  expect(await page.getByText("The selected users are no longer linked").count()).toBe(0);
});

it("a link is found by name and removed in four clicks, after a confirmation that names both users", async () => {
  const page = await visit("/dashboard", /Newcomer/, desktop);
  const key = await createKey(page, "Walk bot");
  await link(key, "100001", "1");
  await link(key, "100003", "2");
  await link(key, "100003", "3");
  await page.goto(`${url()}/dashboard`);
  const { click, clicks } = counting(page);
  await click("Links");
  await expectUsable(page, "Links", "links");
  // The slash key moves the focus to the search field of any page.
  await page.keyboard.press("/");
  await page.keyboard.type("ada");
  await click("Search");
  await page.getByRole("row", { name: /Ada/ }).waitFor();
  await click(/^Unlink Ada/);
  await expectUsable(page, "Unlink?", "unlink");
  expect(await page.getByRole("main").textContent()).toMatch(/Ada \(100001\) from Player 1 \(1\)/);
  await click("Unlink the accounts");
  await page.getByText("The accounts are no longer linked in this list.").waitFor();
  expect(clicks()).toBe(4);
  const gone = await send("GET /v2/chat?chatId=100001", { key });
  expect(gone.body.error?.code).toBe("LINK_NOT_FOUND");
  await expectUsable(page, "Ada", "links-user-unlinked");
  await page.getByText(/^Newcomer unlinked Ada \(100001\) from Player 1 \(1\)$/).waitFor();
});

it("a link is created after a confirmation, and an error is shown at its field", async () => {
  const page = await visit("/dashboard", /Newcomer/, desktop);
  await createKey(page, "Bot");
  await page.goto(`${url()}/dashboard/links`);
  await page.getByText("Link a user").click();
  await page.getByLabel("Account on the chat platform").fill("nobody");
  await page.getByLabel("Account on the game platform").fill("player_5");
  await press(page, "Link the accounts");
  expect(await page.getByLabel("Account on the chat platform").inputValue()).toBe("nobody");
  await page.getByLabel("Account on the chat platform").fill("@newcomer");
  await press(page, "Link the accounts");
  await expectUsable(page, "Link these accounts?", "link");
  await press(page, "Link the accounts");
  await page.getByText("The accounts are linked.").waitFor();
  await expectUsable(page, "Newcomer", "links-user");
  await page.locator("dd").filter({ hasText: "Linked by hand" }).waitFor();
  const file = await page
    .context()
    .request.get(`${url()}/dashboard/links.csv?pid=${new URL(page.url()).searchParams.get("pid")}`);
  expect(await file.text()).toMatch(/^chatId,gameId,lastVerifiedAt\n[^]*100003,5,/);
});
