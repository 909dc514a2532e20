/** The home page and the API reference of the demo in a real browser. */
import { compatRoutes, dashboardRoutes, pathTemplate, routes } from "@accountlink/http-api";
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { openPlainPage } from "../support/plain_page.ts";
import { useServer } from "../support/server.ts";
import { keepPicture, openPage, recordOf } from "./browser.ts";
import { press } from "./flow_pages.ts";
import { contentWidth, desktop, expectUsable, phone } from "./looks.ts";

const demo = useServer(() => ({ fixture: "demo" }));
const openDocs = (options: object) => openPage(`${demo.url()}/docs`, options);

it("the docs page is accessible, fits every window, and loads nothing from other hosts", async () => {
  const page = await openDocs(phone);
  const menu = page.getByRole("navigation");
  await menu.getByText("Links", { exact: true }).click();
  await menu.getByRole("link", { name: /GET \/v2\/chat$/ }).click();
  await page.locator("#getChat").getByText("chatId", { exact: true }).first().waitFor();
  await page.evaluate(
    `for (const details of document.querySelectorAll(".route:nth-of-type(2), .route:nth-of-type(2) details, #errors details:first-of-type")) details.open = true`,
  );
  expect(await contentWidth(page)).toBe(phone.viewport.width);
  // All routes are written by the same code, and axe takes seconds for all of them, so only the proof checks them all.
  if (!isProof) {
    await page.evaluate(
      "for (const route of document.querySelectorAll('.route:nth-of-type(n + 3)')) route.remove()",
    );
  }
  await expectUsable(page, "API reference", "docs");
  expect(recordOf(page).foreignRequests).toEqual([]);
});

it("the docs page lists every route without a script, each link leads to its route, and an example succeeds", async () => {
  const page = await openPlainPage(demo.url(), "203.0.113.1", "/docs");
  const headings = page.all("h3");
  const all = [...routes, ...dashboardRoutes, ...compatRoutes];
  const isMissing = (route: (typeof all)[number]) =>
    !headings.some((heading) => heading.includes(`${route.summary} ${route.method} ${pathTemplate(route)}`));
  expect(all.filter(isMissing).map(({ id }) => id)).toEqual([]);
  const targets = [...page.answer.text.matchAll(/<li><a href="#(\w+)"/g)].map(([, id]) => id);
  expect(targets).toEqual(expect.arrayContaining(all.map(({ id }) => id)));
  for (const id of targets) expect(page.answer.text.split(` id="${id}"`)).toHaveLength(2);

  const [, key] = /ACCOUNTLINK_KEY='(alk_[\w-]+)'/.exec(page.words) ?? [];
  const [, address] = /curl '([^']+)'/.exec(page.textOf("getChat")) ?? [];
  const { pathname, search } = new URL(address ?? "");
  const answer = await fetch(`${demo.url()}${pathname}${search}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(200);
});

it("the home page of the demo signs in as each of its persons with one click", async () => {
  const page = await openPage(demo.url(), desktop);
  await expectUsable(page, "accountlink", "demo-home");
  await page.getByRole("link", { name: /^Add to Discord/ }).waitFor();
  await page.getByText(/get roles and nicknames at once\. If you have a file of links/).waitFor();
  const proofs = page.getByRole("list").filter({ hasText: "six words" }).getByRole("listitem");
  expect(await proofs.allTextContents()).toEqual([
    "You have verified it here for another community: press its button",
    "You connected it on Discord: one sign-in is enough",
    "Sign in to Roblox",
    "Put six words into your profile on Roblox",
    "Type the code that a game shows you",
  ]);

  const goAs = async (person: string) => {
    await page.goto(demo.url());
    await press(page, person);
  };
  await goAs("Ada, the owner");
  const menu = page.getByRole("navigation").first();
  await menu.getByRole("link", { name: "Keys" }).waitFor();
  await goAs("Grace, a moderator");
  await page.getByText("Grace").first().waitFor();
  const entries = await menu.getByRole("link").allTextContents();
  expect(entries.join()).toBe("Links,Alts,Audit log,Team,Account");
  await goAs("Linus, and his data");
  await page.getByText("Linus").first().waitFor();
  expect(new URL(page.url()).pathname).toBe("/me");
  await goAs("Linus, a player");
  expect(await page.locator("#nickname").textContent()).toBe("Linus");
  await page.getByLabel("Command").fill("/verify");
  await press(page, "Send");
  await page.getByRole("link", { name: "Verify", exact: true }).waitFor();

  // A link counts for one sign-in: the next one asks who it is.
  await page.goto(`${demo.url()}/dashboard/sign-in`);
  await page.getByText("Choose who you want to be").waitFor();
});

it("a player of the demo's game types its code on a phone, and signs in to the chat platform alone", async () => {
  const game = await openPage(demo.url(), desktop);
  await press(game, "Grace, in a game");
  await expectUsable(game, "You play as Grace", "demo-game");
  await press(game, "Link my chat account");
  const code = (await game.locator("#code").textContent()) ?? "";
  await keepPicture(game, "demo-game-code");

  const page = await openPage(`${demo.url()}/go`, phone);
  await page.getByRole("textbox").fill(code.toLowerCase());
  await press(page, "Continue");
  await page.getByText("A game says that you are playing as").waitFor();
  await expectUsable(page, "Link your accounts", "demo-game-flow");
  await press(page, "Sign in to Discord");
  await press(page, /^Grace\b(?! \()/);
  await expectUsable(page, "Is this right?", "demo-game-confirm");
  await page.getByText("Go on only if you started this in the game yourself").waitFor();
  await press(page, "Link these accounts");
  await expectUsable(page, "Your accounts are linked", "demo-game-done");
  // The game's page renews itself.
  await game.getByText("Your chat account is linked. Here are 100 coins.").waitFor();
  await game.getByRole("button", { name: "Link another chat account" }).waitFor();

  await game.goto(demo.url());
  await press(game, "Ada, the owner");
  await game.goto(`${demo.url()}/dashboard/communities`);
  await press(game, "Shared list");
  await game.locator("#ways").getByText("Named by a game").waitFor();
});
