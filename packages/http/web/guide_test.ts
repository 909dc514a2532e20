import { guideWith } from "@accountlink/pages/guide";
import { afterAll, expect, it } from "vitest";
import { makeWeb } from "./test_web.ts";

const web = makeWeb();
afterAll(web.stop);

const files: Readonly<Record<string, string>> = {
  "index.html": "<p>Start</p>",
  "docs/api.html": "<p>API</p>",
  "search.js": "1",
  "style.css": "p {}",
  "media/curve.svg": "<svg></svg>",
};
const built = guideWith((path) => Promise.resolve(files[path] ?? null));

const get = async (
  docs: typeof built,
  path: string,
  basePath?: string,
  headers: Record<string, string> = {},
) => {
  const handler = web.handler({ docs, ...(basePath === undefined ? {} : { basePath }) });
  const request = new Request(`https://ours.example${path}`, { headers, redirect: "manual" });
  return handler.fetch(request, { clientAddress: "203.0.113.7" });
};

it.each([
  ["index.html", "text/html; charset=utf-8"],
  ["docs/api.html", "text/html; charset=utf-8"],
  ["search.js", "text/javascript; charset=utf-8"],
  ["style.css", "text/css; charset=utf-8"],
  ["media/curve.svg", "image/svg+xml; charset=utf-8"],
])("the guide serves %s with its type, a policy and a tag", async (path, type) => {
  const answer = await get(built, `/guide/${path}`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe(files[path]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": type,
    "cache-control": "public, max-age=3600",
    "content-security-policy": expect.stringContaining("script-src 'self'"),
    "x-content-type-options": "nosniff",
  });
  const etag = answer.headers.get("etag") ?? "";
  expect((await get(built, `/guide/${path}`, undefined, { "if-none-match": etag })).status).toBe(304);
});

it("`/guide` redirects to the first page, also below a base path", async () => {
  const answer = await get(built, "/links/guide", "/links");
  expect(answer.status).toBe(308);
  expect(answer.headers.get("location")).toBe("/links/guide/index.html");
  expect((await get(built, "/links/guide/index.html", "/links")).status).toBe(200);
});

it("the guide serves only the files of the site", async () => {
  const asked: Array<string> = [];
  const watched = guideWith((path) => {
    asked.push(path);
    return Promise.resolve(files[path] ?? null);
  });
  for (const path of ["../package.json", "..%2f..%2fx.js", "docs/../../x.js", "docs//api.html", "other.html"])
    expect([path, (await get(watched, `/guide/${path}`)).status]).toEqual([path, 404]);
  expect(asked).toEqual(["other.html"]);
});

it("until the guide is built, `/guide` leads to `/docs`, and a newly built guide is served at once", async () => {
  let text: string | null = null;
  const site = guideWith(() => Promise.resolve(text));
  const answer = await get(site, "/guide/index.html");
  expect([answer.status, answer.headers.get("location")]).toEqual([307, "/docs"]);
  text = "<p>Start</p>";
  expect(await (await get(site, "/guide/index.html")).text()).toBe(text);
});
