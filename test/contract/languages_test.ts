/** The language of the pages for users: how it is chosen, and what the answers say of it. */
import { dashboardTags, languageTags } from "@accountlink/pages/languages";
import { expect, test } from "vitest";
import { titleOf } from "../support/flow_browser.ts";
import type { Answer } from "../support/http.ts";
import { languageOf } from "../support/languages.ts";
import { setCookie, useSiteServer } from "./site_server.ts";

const { send, signIn } = useSiteServer();

const shownIn = (answer: Answer) => /<html lang="([^"]+)" dir="(ltr|rtl)">/.exec(answer.text)?.[1];

test.each(languageTags)("pages in %s say so in the document and in the headers", async (tag) => {
  const language = await languageOf(tag);
  for (const path of ["/", "/go", "/verify", "/verify/nowhere"]) {
    const page = await send(`GET ${path}?lang=${tag}`);
    expect([path, shownIn(page), page.headers["content-language"], page.headers.vary]).toEqual([
      path,
      tag,
      tag,
      "Accept-Language, Cookie",
    ]);
  }
  expect(titleOf((await send(`GET /go?lang=${tag}`)).text)).toBe(language.text("code.title"));
});

test("a chosen language is kept in a cookie for a year", async () => {
  const answer = await send("GET /go?lang=en");
  expect(setCookie(answer, "accountlink_language")).toEqual([
    "accountlink_language=en",
    "Max-Age=31536000",
    "Path=/",
    "HttpOnly",
    "SameSite=Lax",
  ]);
});

test("the parameter goes before the cookie, the cookie before the browser's languages, and English is last", async () => {
  const other = languageTags.find((tag) => tag !== "en") ?? "en";
  const ask = (lang: string, cookie: string | null, accepted: string) =>
    send(`GET /go${lang}`, {
      headers: {
        "accept-language": accepted,
        ...(cookie !== null && { cookie: `accountlink_language=${cookie}` }),
      },
    });
  expect(shownIn(await ask("?lang=en", other, other))).toBe("en");
  expect(shownIn(await ask("", other, "en"))).toBe(other);
  expect(shownIn(await ask("", null, `xx, ${other};q=0.5, en;q=0.1`))).toBe(other);
  expect(shownIn(await ask("", null, "xx"))).toBe("en");
  expect(shownIn(await ask("", "xx", other))).toBe(other);
});

test("a language that does not exist is ignored, and not kept", async () => {
  for (const lang of ["klingon", "", "%00", "../en", "en%0d%0aset-cookie:x"]) {
    const answer = await send(`GET /go?lang=${lang}`);
    expect([answer.status, shownIn(answer), answer.headers["set-cookie"]]).toEqual([200, "en", undefined]);
  }
});

test("a long query does not come back in the link of each language, but chooses one", async () => {
  const { text } = await send(`GET /verify?sid=${"x".repeat(15_000)}`);
  expect(text.length).toBeLessThan(50_000);
  // As long as a redirect may be.
  const redirect = encodeURIComponent(`https://a.example/?${"&".repeat(2_000)}`);
  expect(shownIn(await send(`GET /verify?sid=x&redirect=${redirect}&lang=de`))).toBe("de");
});

test("every page offers each language under its own name, and keeps its address", async () => {
  const { text } = await send("GET /verify?sid=unknown&guildId=7");
  for (const tag of languageTags) {
    expect(text).toContain(`<a href="?sid=unknown&amp;guildId=7&amp;lang=${tag}" lang="${tag}"`);
  }
});

test("the dashboard is read in the languages that it has, by the same choice", async () => {
  const browser = await signIn("100001");
  const ask = (path: string, accepted: string) => browser.get(path, { "accept-language": accepted });
  const links = await ask("/dashboard/links", "it, pt;q=0.5, en;q=0.1");
  expect([shownIn(links), links.headers["content-language"], links.headers.vary]).toEqual([
    "pt-BR",
    "pt-BR",
    "Accept-Language, Cookie",
  ]);
  for (const tag of dashboardTags) {
    expect(links.text).toContain(`<a href="?lang=${tag}" lang="${tag}"`);
  }
  const chosen = await ask("/dashboard/links?done=unlinked&q=1&lang=ja", "de");
  expect([shownIn(chosen), setCookie(chosen, "accountlink_language")[0]]).toEqual([
    "ja",
    "accountlink_language=ja",
  ]);
  // The notice of the last action is no part of the page in another language.
  expect(chosen.text).toContain('<a href="?q=1&amp;lang=de" lang="de"');
  expect(shownIn(await ask("/dashboard/links?lang=it", "de"))).toBe("ja");
  const keys = await ask("/dashboard/keys", "de");
  expect(keys.text).toContain('<main id="content" tabindex="-1" lang="en" dir="ltr">');
});
