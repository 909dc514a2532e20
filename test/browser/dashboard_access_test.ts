/** Tests that the dashboard works with only a keyboard. */
import { paths } from "@accountlink/pages/dashboard";
import { expect, it } from "vitest";
import { focused, keepPicture, reach, recordOf } from "./browser.ts";
import { useDashboard } from "./dashboard_pages.ts";
import { desktop, phone } from "./looks.ts";

const { visit, send } = useDashboard();

it("an owner can create, copy and revoke a key with only a keyboard", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  const page = await visit(paths.keys, /Ada\b/, { ...desktop, permissions });
  const enter = async (name: RegExp, title: string) => {
    await reach(page, name);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.title()).toBe(`${title} – accountlink`);
  };
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Skip to the content");
  await keepPicture(page, "dashboard-focus-skip");
  await page.keyboard.press("Enter");
  await enter(/^Create a key/, "Create a key");
  // Tab reaches the first radio button, and an arrow key then selects the next one.
  while (!(await page.evaluate<boolean>("document.activeElement.type === 'radio'"))) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("ArrowDown");
  await reach(page, /^name$/);
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.title()).toMatch("Your new key");
  const token = (await page.locator("#token").textContent()) ?? "";
  await reach(page, /^Copy/);
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe("Copied");
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(token);
  await keepPicture(page, "dashboard-focus-copied");
  await enter(/^I have copied it/, "By keyboard");
  await reach(page, /^confirm$/);
  await page.keyboard.type(new URL(page.url()).pathname.split("/")[3] ?? "");
  await enter(/^Revoke the key/, "By keyboard");
  await page.getByText("The key is revoked.").waitFor();
  expect((await send("GET /v2/chat?chatId=100001", { key: token })).status).toBe(401);
  expect(recordOf(page).complaints).toEqual([]);
});

it("the search field and every other field has letters of at least 16 px, below which phones zoom in", async () => {
  const page = await visit(paths.newKey, /Ada\b/, phone);
  await page.getByRole("searchbox", { name: "Search for a user" }).waitFor();
  const sizes = await page.evaluate<ReadonlyArray<readonly [name: string, size: number]>>(`
    [...document.querySelectorAll("input:not([type=hidden], [type=radio], [type=checkbox]), select, textarea")]
      .map((field) => [field.name, parseFloat(getComputedStyle(field).fontSize)])`);
  expect(sizes.map(([name]) => name)).toEqual(expect.arrayContaining(["q", "name", "allowIps"]));
  expect(sizes.filter(([, size]) => size < 16)).toEqual([]);
});

it("a copy button answers in the language of the page", async () => {
  const page = await visit(`${paths.team}?lang=de`, /Ada\b/, {
    ...desktop,
    permissions: ["clipboard-write"],
  });
  const button = page.locator("[data-copies]");
  await button.click();
  await expect.poll(() => button.textContent()).toBe("Kopiert");
});
