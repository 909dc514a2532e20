/** The pages on which owners rename and delete their account, delete a community's data and give up their role. */
import { expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { createKey, ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { visit, url } = useDashboard((fixture) => ({
  ...fixture,
  accounts: [
    {
      name: "Chess Club",
      chatId: "100004",
      members: [
        { chatId: "100006", role: "owner" },
        { chatId: "100007", role: "moderator" },
      ],
    },
    { name: "Book Club", chatId: "100007" },
  ],
  keys: ["Chess Club", "Book Club"].flatMap((account) => [
    { account, scope: "global", key: newToken() },
    { account, scope: "guild", guildId: ownGuild, key: newToken() },
  ]),
  links: ["Chess Club", "Book Club"].flatMap((account) =>
    ["100002", "100003"].flatMap((chatId) => [
      { account, scope: "global", chatId, gameId: "1" },
      { account, scope: "guild", guildId: ownGuild, chatId, gameId: "1" },
    ]),
  ),
}));

it("an owner renames the account, and no page calls a new account by its ID", async () => {
  const page = await visit("/dashboard", /Ada\b/, desktop);
  await createKey(page, "Bot", ownGuild);
  const sections = [
    "",
    "/communities",
    "/links",
    "/keys",
    "/usage",
    "/events",
    "/audit",
    "/team",
    "/account",
  ];
  for (const section of [...sections, "/account/choose", "/account/delete"]) {
    const answer = await page.context().request.get(`${url()}/dashboard${section}`);
    expect([
      section,
      answer.status(),
      (await answer.text()).replaceAll(/<[^>]*>/g, "").includes("chat:"),
    ]).toEqual([section, 200, false]);
  }
  await page.goto(`${url()}/dashboard/account`);
  await page.getByText("Until it has one: Ada’s account").waitFor();
  await page.getByLabel("Name of the account").fill("Book Club");
  await press(page, "Rename the account");
  await page.getByText("Nothing was changed: another account has this name.").waitFor();
  await page.getByLabel("Name of the account").fill("Rooks & Co");
  await press(page, "Rename the account");
  await page.getByText("The account has its new name.").waitFor();
  await page.getByText("Rooks & Co · free").waitFor();
  await expectUsable(page, "Account", "account-renamed");
});

it("an owner reads what the deletion of a list's data deletes, and types its name", async () => {
  const page = await visit("/dashboard/communities", /Busy/, { ...phone, javaScriptEnabled: false });
  await press(page, "Rook & Bishop");
  await press(page, "Delete the data of this list");
  await page.getByText("2 links of 1 list").waitFor();
  await page.getByLabel(/^Type/).fill("Rook");
  await press(page, "Delete the data");
  await page.getByRole("alert").getByText("expected the name of what is deleted").waitFor();
  await page.getByLabel(/^Type/).fill("Rook & Bishop");
  await press(page, "Delete the data");
  await page.getByText("The data of this list is deleted.").waitFor();
  expect(await page.getByText("0 links").count()).toBe(1);
});

it("an owner asks for the own demotion first, and then deletes nothing any more", async () => {
  const page = await visit("/dashboard/team", /Grace/, desktop);
  await page.getByText("Change the role of Grace").click();
  await page.locator("details[open] input[value=moderator]").check();
  await press(page, "Save the role");
  await expectUsable(page, "Become a moderator?", "team-step-down");
  await press(page, "Stay an owner");
  await page.getByText("Owner since").first().waitFor();
  await page.getByText("Change the role of Grace").click();
  await page.locator("details[open] input[value=admin]").check();
  await press(page, "Save the role");
  await press(page, "Give up the role");
  await page.getByText("The role was changed.").waitFor();
  await page.goto(`${url()}/dashboard/account`);
  expect(await page.getByText("Delete the account").count()).toBe(0);
  const refused = await page.goto(`${url()}/dashboard/account/delete`);
  expect(refused?.status()).toBe(403);
});

it("/me says what an erasure does to each account, and leads to its deletion", async () => {
  const page = await visit("/me/erase", null, phone);
  await page.getByRole("button", { name: /Linus/ }).click();
  await page.getByRole("heading", { name: "Chess Club" }).waitFor();
  await page.getByText("You leave its team.").waitFor();
  await page
    .getByText(/Still in its team: (?:Busy and Grace|Grace and Busy)\. 2 links of users stay\./)
    .waitFor();
  await page.getByText("2 API keys stop working at once. Nobody is left in charge").waitFor();
  await page.getByText("Nobody is left in its team. 4 links of users stay.").waitFor();
  await expectUsable(page, "Erase everything?", "me-erase-accounts");
});

it("an owner deletes the account after typing its name", async () => {
  const page = await visit("/dashboard/account", /Linus/, desktop);
  await press(page, "Use Book Club");
  await page.goto(`${url()}/dashboard/account`);
  await press(page, "Delete the account");
  await page.getByText("4 links of 2 lists").waitFor();
  await page.getByText("2 keys, refused within a second").waitFor();
  await expectUsable(page, "Delete the account?", "account-delete");
  const button = page.getByRole("button", { name: "Delete the account" });
  expect(await button.isDisabled()).toBe(true);
  await page.getByLabel(/^Type/).fill("Book Club");
  await button.click();
  await expect.poll(() => page.title()).toBe("The account is deleted");
  await page.goto(`${url()}/dashboard/account`);
  await expect.poll(() => page.title()).not.toContain("Account –");
});
