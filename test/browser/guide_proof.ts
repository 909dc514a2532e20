/** The built guide, opened from disk in a real browser. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { errorCodes } from "@accountlink/http-api";
import { beforeAll, expect, it } from "vitest";
import { type Gaps, makeGuide } from "../../tools/guide/guide.ts";
import { useFolder } from "../support/folder.ts";
import { openPage, recordOf } from "./browser.ts";
import { contentWidth, desktop, phone } from "./looks.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = useFolder();
let gaps: Gaps;
const pages = new Map<string, string>();

beforeAll(async () => {
  gaps = await makeGuide(folder);
  for (const path of globSync("**/*.html", { cwd: folder }))
    pages.set(path, readFileSync(join(folder, path), "utf8"));
});

const open = (path: string, look: object) => openPage(pathToFileURL(join(folder, path)).href, look);

it("the guide has an example for every function, class and value", () => {
  expect(gaps.withoutExample).toEqual([]);
  expect(pages.size).toBeGreaterThan(500);
});

it("an editor shows a text about every function and method of the library and the client", () => {
  expect(gaps.withoutComment).toEqual([]);
});

it.each(errorCodes)("the guide has a page for the error code %s", (code) => {
  expect(pages.get(`errors/${code}.html`)).toContain("What a client should do");
});

it("the guide has no broken links between documents", () => {
  const leads = (path: string, href: string): boolean => {
    const source = /^https:\/\/github\.com\/accountlink\/accountlink\/blob\/main\/([^#]+)/.exec(href)?.[1];
    if (source !== undefined) return existsSync(join(root, decodeURIComponent(source)));
    const [to = "", anchor = ""] = href.split("#");
    if (/^[a-z]+:/.test(href) || /\.(css|js|svg)$/.test(to)) return true;
    const target = pages.get(to === "" ? path : posix.join(posix.dirname(path), to));
    return target?.includes(anchor === "" ? "" : ` id="${anchor}"`) === true;
  };
  const broken = [...pages]
    .filter(([path]) => /^(docs|errors)\/|^[^/]+$/.test(path))
    .flatMap(([path, html]) =>
      [...html.matchAll(/ (?:href|src)="([^"]+)"/g)]
        .map(([, href = ""]) => href)
        .filter((href) => !leads(path, href))
        .map((href) => `${path}: ${href}`),
    );
  expect(broken).toEqual([]);
});

it("the guide has no inline script or style, because the server's Content-Security-Policy forbids it", () => {
  const forbidden = /<script(?! (?:async|defer) src="[^":]+")|<script[^>]*>[^<]|<style| style="| on\w+="/;
  expect([...pages].filter(([, html]) => forbidden.test(html)).map(([path]) => path)).toEqual([]);
});

it.each([
  ["INVALID_PARAMETER", "errors/INVALID_PARAMETER.html"],
  ["Alt detection", "docs/alts.html"],
  ["createAccountLink", "accountlink/createAccountLink.html"],
])("the search of the guide finds %s", async (text, target) => {
  const page = await open("docs/api.html", desktop);
  await page.locator("#tsd-search-trigger").click();
  await page.locator("#tsd-search-input").fill(text);
  await page.locator(`#tsd-search-results a[href*="${target}"]`).first().click();
  await page.waitForURL((url) => url.pathname.endsWith(target));
  // The browser reports an error for `icons.svg` when a page is opened from disk, until a script has inserted the
  // icons.
  expect(recordOf(page).complaints.filter((complaint) => !complaint.includes("assets/icons.svg"))).toEqual(
    [],
  );
});

it.each(["index.html", "docs/operating.html", "accountlink.html"])(
  "the page %s fits phones",
  async (path) => {
    const page = await open(path, phone);
    expect(await contentWidth(page)).toBe(phone.viewport.width);
  },
);
