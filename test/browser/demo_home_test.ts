import { expect, it, onTestFinished } from "vitest";
import { type ServerOptions, startServerHere } from "../support/server.ts";
import { openPage, useBrowser } from "./browser.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const browser = useBrowser();

const start = async (options: ServerOptions) => {
  const server = await startServerHere(options);
  onTestFinished(async () => void (await server.stop()));
  return server;
};

it("the home page of the demo signs in as each of its persons with one click", async () => {
  const { url } = await start({ fixture: "demo" });
  const watched = await openPage(browser(), url, desktop);
  const { page, close } = watched;
  await expectUsable(watched, "accountlink", "demo-home");

  const goAs = async (person: string) => {
    await page.goto(url);
    await press(page, person);
  };
  await goAs("Ada, the owner");
  const menu = page.getByRole("navigation").first();
  await menu.getByRole("link", { name: "Keys" }).waitFor();
  await goAs("Grace, a moderator");
  await page.getByText("Grace").first().waitFor();
  expect(await menu.getByRole("link").allTextContents()).toEqual([
    "Links",
    "Alts",
    "Audit log",
    "Team",
    "Account",
  ]);
  await goAs("Linus, and his data");
  await page.getByText("Linus").first().waitFor();
  expect(new URL(page.url()).pathname).toBe("/me");
  await goAs("Linus, a player");
  await page.getByLabel("Command").fill("/verify");
  await press(page, "Send");
  await page.getByRole("link", { name: "Verify", exact: true }).waitFor();

  // A link counts for one sign-in: the next one asks who it is.
  await page.goto(`${url}/dashboard/sign-in`);
  await page.getByText("Choose who you want to be").waitFor();
  await close();
});

it("the home page outside the demo names nobody to sign in as", async () => {
  const { url } = await start({ fixture: {} });
  const { page, close } = await openPage(browser(), url, phone);
  expect(await page.locator("main").innerText()).not.toMatch(/demo|Ada|Linus/);
  await close();
});
