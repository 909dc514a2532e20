/** The documentation site as it is built, opened from a disk in a real browser. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { errorCodes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSite, type Site } from "../../tools/site/site.ts";
import { openPage, useBrowser } from "./browser.ts";
import { desktop, phone } from "./looks.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "accountlink-guide-"));

let site: Site | undefined;
const browser = useBrowser();

const pages = () => [...(site?.files ?? [])].filter(([path]) => path.endsWith(".html"));

beforeAll(async () => {
  site = await makeSite();
  for (const [path, text] of site.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

const open = (path: string, look: object) =>
  openPage(browser(), pathToFileURL(join(folder, path)).href, look);

describe("the site", () => {
  it("has an example that runs for every public name", () => {
    expect([...(site?.withoutExample ?? [])].filter(([, names]) => names.length > 0)).toEqual([]);
    expect(site?.names).toBeGreaterThan(800);
  });

  it.each(errorCodes)("has a page for %s, with answers", (code) => {
    const html = site?.files.get(`errors/${code}.html`) ?? "";
    expect(html).toContain(`&quot;code&quot;: &quot;${code}&quot;`);
    expect(html).toMatch(/<h2 id="what-a-client-should-do">.*<\/h2>\n<p>[A-Z].+\.<\/p>/);
  });

  it("has no link that leads nowhere", () => {
    const anchors = new Map(
      pages().map(([path, html]) => [
        path,
        new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, anchor]) => anchor)),
      ]),
    );
    const leads = (path: string, href: string): boolean => {
      const source = /^https:\/\/github\.com\/accountlink\/accountlink\/blob\/main\/([^#]+)/.exec(href)?.[1];
      if (source !== undefined) return existsSync(join(root, decodeURIComponent(source)));
      if (/^[a-z]+:/.test(href)) return true;
      const [to = "", anchor] = href.split("#");
      const target = to === "" ? path : posix.join(posix.dirname(path), to);
      return anchor === undefined
        ? site?.files.has(target) === true
        : anchors.get(target)?.has(anchor) === true;
    };
    const broken = pages().flatMap(([path, html]) =>
      [...html.matchAll(/ (?:href|src)="([^"]*)"/g)]
        .map(([, href = ""]) => href)
        .filter((href) => !leads(path, href))
        .map((href) => `${path}: ${href}`),
    );
    expect(pages().length).toBeGreaterThan(50);
    expect(broken).toEqual([]);
  });

  it("has no inline script or style, which the policy of the server forbids", () => {
    const forbidden = /<script(?! src="[^":]+" defer><\/script>)|<style| style="| on\w+="/;
    expect(pages().filter(([, html]) => forbidden.test(html))).toEqual([]);
  });

  it.each([
    ["INVALID_PARAMETER", "errors/INVALID_PARAMETER.html"],
    ["alt", "docs/alts.html"],
    ["createAccountLink", "api/accountlink.html#createaccountlink"],
  ])("finds %s", async (text, target) => {
    const { page, complaints, close } = await open("docs/api.html", desktop);
    await page.getByLabel("Search").fill(text);
    const hit = page.locator(`#results a[href^="../${target}"]`).first();
    await hit.click();
    await page.waitForURL((url) => url.pathname.endsWith(target.replace(/#.*/, "")));
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(["index.html", "docs/operating.html", "api/accountlink.html", "api/core.links.html"])(
    "fits a phone: %s",
    async (path) => {
      const { page, close } = await open(path, phone);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(phone.viewport.width);
      const isVisible = (selector: string) =>
        page.evaluate<boolean>(
          `document.querySelector("${selector}").getBoundingClientRect().top < innerHeight`,
        );
      expect([await isVisible("h1"), await isVisible("nav")]).toEqual([true, false]);
      await page.getByRole("link", { name: "Pages", exact: true }).click();
      expect(await isVisible("nav")).toBe(true);
      await close();
    },
  );
});
