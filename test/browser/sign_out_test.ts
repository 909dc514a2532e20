/** Pages that a browser shows after a sign-out: with the back button, and in a tab left open. */
import { paths } from "@accountlink/pages/dashboard";
import { isProof } from "@accountlink/test-servers";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { focused, startBrowserWithKeptPages, whyNoKeptPages } from "./browser.ts";
import { useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const { open, visit, url } = useDashboard();

/** Signs in as Ada. */
const enter = async (page: Page, site: "/dashboard" | "/me") => {
  await page.goto(`${url()}${site}`);
  await press(page, /Ada\b/);
  await page.waitForURL(`${url()}${site}`);
};

const visitSite = async (site: "/dashboard" | "/me", options: BrowserContextOptions) => {
  const page = await visit("/dashboard", /Ada\b/, options);
  if (site === "/me") await enter(page, site);
  return page;
};

const signOut = async (page: Page) => {
  await press(page, "Sign out");
  await expect.poll(() => page.title()).toBe("You are signed out");
};

/** Goes back and returns the new URL. `page.goBack` would wait forever, because a page from the cache is not loaded. */
const goBack = async (page: Page) => {
  const before = page.url();
  await page.waitForLoadState();
  await page.evaluate("history.back()").catch(() => null);
  await expect.poll(() => page.url()).not.toBe(before);
  return page.url();
};

const signInPage = /\/chat\/oauth\/authorize\?/;

const ways = [
  { site: "/dashboard", javaScriptEnabled: true, pages: [paths.keys, paths.audit] },
  { site: "/me", javaScriptEnabled: false, pages: ["/me/erase", "/me"] },
] as const;

it.each(isProof ? ways : ways.slice(0, 1))(
  "after a sign-out of $site, the back button leads to the sign-in",
  async ({ site, ...way }) => {
    const page = await visitSite(site, { ...desktop, javaScriptEnabled: way.javaScriptEnabled });
    for (const path of way.pages) await page.goto(`${url()}${path}`);
    await signOut(page);
    for (const _ of way.pages) {
      await page.goBack();
      expect(page.url()).toMatch(signInPage);
    }
  },
);

it("sending an open form after a sign-out creates nothing, and leads to the sign-in", async () => {
  const page = await open(paths.newKey, /Ada\b/);
  const other = await open(paths.account, /Ada\b/);
  await other.press("Sign out everywhere");
  await page.press("Create the key", { Name: "Late", "Shared list": true });
  await expectUsable(page, "You are no longer signed in", "dashboard-form-lost");
  await page.press("Sign in again");
  await page.press(/Ada\b/);
  await page.goto(paths.keys);
  expect(page.title).toMatch(/^Keys/);
  expect(page.answer.text).not.toContain("Late");
});

it("keeps what was typed on an old page if the sign-in has ended, and sends it after another one", async () => {
  const page = await visit(paths.newKey, /Ada\b/, desktop);
  await page.getByLabel("Name").fill("Typed overnight");
  await page.getByLabel("Shared list").check();
  await page.evaluate("Date.now = () => Number.MAX_SAFE_INTEGER");
  const other = await page.context().newPage();
  const inOtherTab = async (path: string, button: string | RegExp) => {
    await other.goto(`${url()}${path}`);
    await press(other, button);
  };
  await inOtherTab(paths.account, "Sign out everywhere");
  const alert = page.getByRole("alert");
  expect(await alert.count()).toBe(0);
  await page.getByRole("button", { name: "Create the key" }).click();
  await expect.poll(() => alert.innerText()).toMatch(/^Nothing was sent: you are no longer signed in/);
  expect(await focused(page)).toBe("signed-out");
  // Somebody else's sign-in sends nothing either, even if both people and their accounts have one name.
  await inOtherTab(paths.overview, /Grace\b/);
  const shown = JSON.stringify(await other.innerHTML(".visitor p"));
  await page.evaluate(`document.querySelector(".visitor p").innerHTML = ${shown}`);
  await page.getByRole("button", { name: "Create the key" }).click();
  await expect.poll(() => focused(page)).toBe("signed-out");
  await inOtherTab(paths.account, "Sign out everywhere");
  await inOtherTab(paths.overview, /Ada\b/);
  await page.getByRole("button", { name: "Create the key" }).click();
  await expect.poll(() => page.title()).toMatch(/^Your new key/);
  expect(await page.innerText("main")).toContain("Typed overnight is ready");
});

it("a page whose numbers renew themselves says when the sign-in has ended, and goes on after another one", async () => {
  const page = await visit(paths.usage, /Ada\b/, desktop);
  await page.addInitScript("const every = setInterval; setInterval = (renew) => every(renew, 200);");
  await page.reload();
  const other = await page.context().newPage();
  const inOtherTab = async (path: string, button: string | RegExp) => {
    await other.goto(`${url()}${path}`);
    await press(other, button);
    await page.bringToFront();
  };
  const alert = page.getByRole("alert");
  await inOtherTab(paths.account, "Sign out everywhere");
  await expect
    .poll(() => alert.allInnerTexts())
    .toEqual([expect.stringMatching(/^This page is no longer updated/)]);
  await inOtherTab(paths.overview, /Ada\b/);
  await expect.poll(() => alert.count()).toBe(0);
});

describe.skipIf(whyNoKeptPages !== null)(`a browser that caches pages ${whyNoKeptPages ?? ""}`, () => {
  /** Marks a page with a script. Loading the page again removes the mark. */
  const mark = (page: Page) => page.evaluate("document.body.dataset.mark = 'kept'");
  const isKept = async (page: Page) => (await page.content()).includes('data-mark="kept"');

  const scripts = isProof ? [true, false] : [true];
  it.each(scripts)("shows no cached page after a sign-out (scripts: %s)", async (javaScriptEnabled) => {
    const browser = await startBrowserWithKeptPages();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ javaScriptEnabled });
    await enter(page, "/me");
    await mark(page);
    await page.goto(`${url()}/me/erase`);
    expect(await goBack(page)).toBe(`${url()}/me`);
    // Check first that the back/forward cache works at all: before the sign-out, it keeps the page.
    await expect.poll(() => isKept(page)).toBe(true);
    await signOut(page);
    expect(await goBack(page)).toMatch(signInPage);
    // Also test the first page after a sign-in, which is reached by a redirect from the platform.
    for (const site of ["/me", "/dashboard"] as const) {
      await enter(page, site);
      await signOut(page);
      expect(await goBack(page)).toMatch(signInPage);
    }
    await enter(page, "/me");
    await press(page, "Erase all your data");
    await page.getByLabel("I want all of this to be erased.").check();
    await press(page, "Erase everything");
    await expect.poll(() => page.title()).toBe("Everything is erased");
    expect(await goBack(page)).toMatch(signInPage);
  });
});
