/** The pages on which owners rename and delete their account, delete a community's data and give up their role. */
import { expect, it } from "vitest";
import { accountOf } from "../support/fixtures.ts";
import { twoLists, useDashboard } from "./dashboard_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const lists = ["Chess Club", "Book Club"].map((account) => twoLists(account, ["100002", "100003"]));

const { open, visit } = useDashboard(() => ({
  accounts: [
    accountOf({ name: "Chess Club", chatId: "100004", team: { 100006: "owner", 100007: "moderator" } }),
    { name: "Book Club", chatId: "100007" },
  ],
  keys: lists.flatMap(({ keys }) => keys),
  links: lists.flatMap(({ links }) => links),
}));

it("an owner renames the account, and no page calls a new account by its ID", async () => {
  const page = await open("/dashboard/keys/new", /Ada\b/);
  await page.press("Create the key", { Name: "Bot", Community: "Rook & Bishop" });
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
    await page.goto(`/dashboard${section}`);
    expect([
      section,
      page.answer.status,
      page.answer.text.replaceAll(/<[^>]*>/g, "").includes("chat:"),
    ]).toEqual([section, 200, false]);
  }
  expect(await page.goto("/dashboard/account")).toContain("Until it has one: Ada’s account");
  await page.press("Rename the account", { "Name of the account": "Book Club" });
  expect(page.words).toContain("Nothing was changed: another account has this name.");
  await page.press("Rename the account", { "Name of the account": "Rooks & Co" });
  expect(page.words).toContain("The account has its new name.");
  expect(page.answer.text).toContain("Rooks &amp; Co · free");
  await expectUsable(page, "Account", "account-renamed");
});

it("an owner reads what the deletion of a list's data deletes, and types its name", async () => {
  const page = await open("/dashboard/communities", /Busy/);
  await page.press("Rook & Bishop");
  expect(await page.press("Delete the data of Rook & Bishop")).toContain("2 links, with the addresses");
  await page.press("Delete the data", { Type: "Rook" });
  expect(page.words).toContain("expected the name of what is deleted");
  await page.press("Delete the data", { Type: "Rook & Bishop" });
  expect(page.words).toContain("The data of Rook & Bishop is deleted.");
  expect(page.words).toContain("0 links");
});

it("an owner asks for the own demotion first, and then deletes nothing any more", async () => {
  const page = await open("/dashboard/team", /Grace/);
  await page.press("Save the role", { Moderator: true }, "Change the role of Grace");
  await expectUsable(page, "Become a moderator?", "team-step-down");
  expect(await page.press("Stay an owner")).toContain("Owner since");
  await page.press("Save the role", { Admin: true }, "Change the role of Grace");
  expect(await page.press("Give up the role")).toContain("The role was changed.");
  expect(await page.goto("/dashboard/account")).not.toContain("Delete the account");
  await page.goto("/dashboard/account/delete");
  expect(page.answer.status).toBe(403);
});

it("/me says what an erasure does to each account", async () => {
  const page = await open("/me/erase", /Linus/, "me");
  expect(page.all("h3").join()).toContain("Chess Club");
  expect(page.words).toContain("You leave its team.");
  expect(page.words).toMatch(
    /Still in its team: (?:Busy and Grace|Grace and Busy)\. 2 links of users stay\./,
  );
  expect(page.words).toContain("2 API keys stop working at once. Nobody is left in charge");
  expect(page.words).toContain("Nobody is left in its team. 4 links of users stay.");
  await expectUsable(page, "Erase everything?", "me-erase-accounts");
});

it("an owner deletes the account after typing its name", async () => {
  const page = await open("/dashboard/account/choose", /Linus/);
  await page.press("Use Book Club");
  await page.goto("/dashboard/account");
  expect(await page.press("Delete the account")).toContain("4 links of 2 lists");
  expect(page.words).toContain("2 keys, refused within a second");
  expect(page.answer.text).toContain('href="/dashboard/links.csv?pid=all"');
  await page.press("Delete the account", { Type: "Book" });
  expect(page.words).toContain("expected the name of what is deleted");
  await expectUsable(page, "Delete the account?", "account-delete");

  // Pages show two spaces as one, and an accent may be a letter of its own or none.
  await page.goto("/dashboard/account");
  await page.press("Rename the account", { "Name of the account": "Cafe\u0301 of  Books\u200E" });
  const typed = "Café of Books";
  const real = await visit("/dashboard/account", /Linus/, desktop);
  await real.getByRole("link", { name: "Delete the account" }).click();
  const button = real.getByRole("button", { name: "Delete the account" });
  expect(await button.isDisabled()).toBe(true);
  await real.getByLabel("to confirm").fill(typed);
  expect(await button.isDisabled()).toBe(false);
  await page.goto("/dashboard/account/delete");
  await page.press("Delete the account", { Type: typed });
  expect(page.title).toBe("The account is deleted");
  await page.goto("/dashboard/account");
  expect(page.title).not.toContain("Account –");
});
