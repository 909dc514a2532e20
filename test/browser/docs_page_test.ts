import { compatRoutes, dashboardRoutes, pathTemplate, routes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { openPage, useBrowser } from "./browser.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

let demo: RunningServer;

beforeAll(async () => {
  demo = await startServerHere({ fixture: "demo" });
});

afterAll(() => demo.stop());

const browser = useBrowser();

const openDocs = (options: object) => openPage(browser(), `${demo.url}/docs`, options);

describe("/docs of the demo", () => {
  it("the docs page is accessible, fits every window, and loads nothing from other hosts", async () => {
    const watched = await openDocs(phone);
    await expectUsable(watched, "API reference", "docs-closed");
    const { page } = watched;
    const menu = page.getByRole("navigation");
    await menu.getByText("Links", { exact: true }).click();
    await menu.getByRole("link", { name: /GET \/v2\/chat$/ }).click();
    await page.locator("#getChat").getByText("chatId", { exact: true }).first().waitFor();
    await page.evaluate(
      `for (const details of document.querySelectorAll(".route:nth-of-type(2), .route:nth-of-type(2) details, #errors details:first-of-type")) details.open = true`,
    );
    await expectUsable(watched, "API reference", "docs");
    expect(watched.foreignRequests).toEqual([]);
    await watched.close();
  });

  it("the docs page lists every route without a script, and each link leads to its route", async () => {
    const { page, close } = await openDocs({ ...desktop, javaScriptEnabled: false });
    const headings = await page.locator(".route h3").allTextContents();
    const all = [...routes, ...dashboardRoutes, ...compatRoutes];
    const isMissing = (route: (typeof all)[number]) =>
      !headings.includes(`${route.summary} ${route.method} ${pathTemplate(route)}`);
    expect(all.filter(isMissing).map(({ id }) => id)).toEqual([]);
    const [ids, targets] = await Promise.all([
      page.locator(".route > div").evaluateAll((routesShown) => routesShown.map(({ id }) => `#${id}`)),
      page.locator("nav li a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ]);
    expect(new Set(targets)).toEqual(new Set(ids));
    expect(new Set(ids).size).toBe(ids.length);
    await close();
  });

  it("an example request succeeds with the key of the demo", async () => {
    const { page, close } = await openDocs(desktop);
    const [, key] =
      /ACCOUNTLINK_KEY='(alk_[\w-]+)'/.exec((await page.locator("main").textContent()) ?? "") ?? [];
    const command = await page.locator("#getChat pre").first().textContent();
    const [, address] = /curl '([^']+)'/.exec(command ?? "") ?? [];
    const { pathname, search } = new URL(address ?? "");
    const answer = await fetch(`${demo.url}${pathname}${search}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
    await close();
  });
});
