/** The pages of communities and links. Common tasks must not need too many clicks. */
import { expect, it } from "vitest";
import { daysAgo, inGuilds, newToken } from "../support/fixtures.ts";
import { newKey, shows, useDashboard } from "./dashboard_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

/** One owner has 30 links: 10 were verified this week and 15 in the week before. */
const { open, visit, send } = useDashboard((fixture) => ({
  accounts: [{ name: "crowd", chatId: "100004", tier: "free" }],
  keys: [{ account: "crowd", scope: "global", key: newToken() }],
  // Mallory has the role without a link.
  platform: inGuilds(fixture, ({ members = [] }) => ({
    members: members.map((member) => ({
      ...member,
      ...(member.chatId === "100002" && { roles: [{ id: "13", name: "Member" }] }),
    })),
  })),
  links: Array.from({ length: 30 }, (_, index) => ({
    account: "crowd",
    scope: "global",
    chatId: String(200_001 + index),
    gameId: "1",
    lastVerifiedAt: daysAgo(index < 10 ? 1 : index < 25 ? 8 : 20),
  })),
}));

it("a new owner needs at most twelve clicks and no key from the sign-in to a member with a role", async () => {
  const page = await open("/dashboard", /Ada\b/);
  await expectUsable(page, "Overview", "steps-overview");
  await page.goto("/dashboard/communities");
  await expectUsable(page, "Communities", "communities-empty");
  await page.goto("/dashboard");
  const before = page.clicks;
  await page.press("Set up Rook & Bishop");
  await page.press("See what changes, then turn on", { "gets the role": "Member" });
  await shows(page, "This is what would change:");
  expect(page.value("Leave them as they are")).toBe("keep");
  expect(await page.press("Turn on")).toContain("Members who never linked keep their roles.");
  await page.press("Try it as a member");
  const channel = page.url;
  expect(page.words).toContain("Your roles: none");
  await page.press("Send", { Command: "/verify" });
  await page.press("Verify");
  await expectUsable(page, "Link your accounts", "steps-verify");
  await page.press("Sign in to the chat platform");
  await page.press(/Ada\b/);
  await page.press("Sign in to the game platform");
  await page.press(/Player 2\b/);
  await page.press("Link these accounts");
  expect(page.title).toBe("Your accounts are linked");
  // Choosing the role counts as one click.
  expect(page.clicks - before + 1).toBeLessThanOrEqual(12);
  await page.goto(channel);
  await shows(page, "Your roles: Member");
  await page.goto("/dashboard/communities");
  await expectUsable(page, "Communities", "communities");
  expect(page.answer.text).toMatch(/href="[^"]*700000000000000003[^"]*"[^>]*>Add the bot/);
  await page.press("Rook & Bishop");
  await expectUsable(page, "Rook & Bishop", "community");
  expect(await page.goto("/dashboard/links")).toContain("1 link in Rook & Bishop");
});

it("an owner previews and saves the texts of a community, and sees errors at the fields", async () => {
  const page = await open("/dashboard", /Newcomer/);
  await newKey(page, "Bot");
  await page.goto("/dashboard/communities");
  await page.press("Shared list");
  await expectUsable(page, "Shared list", "community-new");
  const real = await visit(page.path, /Newcomer/, desktop);
  const beginning = real.frameLocator("iframe >> nth=0");
  await beginning.getByText("Request from Newcomer").waitFor();
  await real.getByLabel("Name of your community").fill("The <Rook> Club");
  await beginning.getByText("Request from The <Rook> Club").waitFor();

  const texts = { "Name of your community": "The <Rook> Club", "Message at the end": "Say hello." };
  await page.press("Update the preview", texts);
  const [begun = "", ended = ""] = page.answer.text.match(/srcdoc="[^"]*"/g) ?? [];
  expect(begun).toContain("The &amp;lt;Rook&amp;gt; Club");
  expect(ended).toContain("Say hello.");
  expect(await page.press("Save", { ...texts, "Help page": "help.example" })).toContain("begins with https:");
  await expectUsable(page, "Shared list", "community-refused");
  await page.press("Save", { "Help page": "https://help.example/" });
  expect(page.words).toContain("Saved. Users see it from now on.");
  expect(page.value("Name of your community")).toBe("The <Rook> Club");
});

it("the dashboard counts the links verified in a week, and lists many links in pages", async () => {
  const page = await open("/dashboard", /Busy/);
  expect(page.words).toContain("Linked or confirmed in seven days −33 % against the week before 10");
  expect(await page.goto("/dashboard/links")).toContain("30 links in the shared list");
  await expectUsable(page, "Links", "links-many");
  const rows = () => page.all("tr").length - 1;
  await page.press("Older links");
  expect(rows()).toBe(5);
  await page.press("Newer links");
  expect([rows(), page.all("a", "Newer links")]).toEqual([25, []]);
  await page.press("Oldest");
  expect([rows(), page.all("a", "Older links")]).toEqual([25, []]);
  await page.press("Newest");
  await page.press("Search", { "Verified until": daysAgo(15).slice(0, 10) }, "Verified until");
  expect(rows()).toBe(5);
  expect(page.words).toContain("An account is shown by its ID alone");
  const real = await visit(page.path, /Busy/, { viewport: { width: 320, height: 800 } });
  expect((await real.getByRole("rowheader").first().boundingBox())?.y).toBeLessThan(800);
  await real.getByLabel("Tick all on this page").check();
  expect(await real.getByRole("checkbox", { name: /^Select /, checked: true }).count()).toBe(25);
  await page.press("Search", { Order: "By name" }, "Verified until");
  expect(page.words).toContain("Each page is sorted for itself");
  // The platform does not know this user, so the row names the user by ID alone.
  expect(page.all("th", "2000")[0]).toBe("200026");
  await page.goto("/dashboard/links?q=1");
  await page.press("Unlink all that were found");
  expect(page.title).toContain("Unlink 30 users?");
  await page.press("Unlink 30 users");
  expect(page.words).toContain("The selected users are no longer linked in the shared list.");
  expect(page.words).toContain("Nobody is linked yet.");
  // A reload does not repeat what was done.
  await real.goto(page.url);
  await real.getByText("The selected users are no longer linked").waitFor();
  await real.reload();
  await real.getByText("Nobody is linked yet.").waitFor();
  expect(await real.getByText("The selected users are no longer linked").count()).toBe(0);
});

it("a link is created after a confirmation, found by name, and removed in four clicks", async () => {
  const page = await open("/dashboard", /Linus/);
  const key = await newKey(page, "Bot");
  await page.goto("/dashboard/links");
  const [chat, game] = ["Account on the chat platform", "Account on the game platform"];
  await page.press("Link the accounts", { [chat]: "nobody", [game]: "player_5" });
  expect(page.value(chat)).toBe("nobody");
  await page.press("Link the accounts", { [chat]: "@ada" });
  await expectUsable(page, "Link these accounts?", "link");
  expect(await page.press("Link the accounts")).toMatch(/The accounts are linked\..*Linked by hand/);
  await expectUsable(page, "Ada", "links-user");
  await page.goto(`/dashboard/links.csv?pid=${new URL(page.url).searchParams.get("pid")}`);
  expect(page.answer.text).toMatch(/^chatId,gameId,lastVerifiedAt\n[^]*100001,5,/);

  await page.goto("/dashboard");
  const before = page.clicks;
  await page.press("Links");
  await page.press("Search", { Find: "ada" });
  await page.press(/^Unlink Ada/);
  await expectUsable(page, "Unlink?", "unlink");
  expect(page.words).toContain("Ada (100001) from Player 5 (5)");
  await page.press("Unlink the accounts");
  expect(page.clicks - before).toBe(4);
  expect(page.words).toContain("The accounts are no longer linked in the shared list.");
  const gone = await send("GET /v2/chat?chatId=100001", { key });
  expect(gone.body.error?.code).toBe("LINK_NOT_FOUND");
  await expectUsable(page, "Ada", "links-user-unlinked");
  expect(page.words).toContain("Linus unlinked Ada (100001) from Player 5 (5)");
});

it("the slash key moves the focus to the search field of any page", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, desktop);
  await page.keyboard.press("/");
  await page.keyboard.type("ada");
  expect(await page.locator("#find").inputValue()).toBe("ada");
});
