/** Every text of the pages and of the answers in chat, in each language beside English: nothing of ours stays English. */
import { type LanguageTag, languageTags } from "@accountlink/pages/languages";
import { isProof } from "@accountlink/test-servers";
import { beforeAll, expect, test } from "vitest";
import { chatKey, interactionOf, sendInteraction } from "../support/chat.ts";
import { chatUsers, guild } from "../support/fixtures.ts";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { useSiteServer } from "./site_server.ts";

const server = useSiteServer({
  ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey,
  ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE: "0",
  ACCOUNTLINK_SESSION_CREATE_BURST: "0",
  ACCOUNTLINK_PRIVACY_URL: "https://links.example/privacy",
  ACCOUNTLINK_CONTACT: "help@links.example",
});
const { fixtures, send, newBrowser, signIn } = server;
const club = fixtures.key({ account: "club", guildId: guild });
fixtures.plan({
  account: "club",
  guildId: guild,
  rules: [{ roleId: "1", when: { is: "linked" } }],
  state: "on",
});

/** The texts of each page or answer, by its name. */
type Texts = Map<string, ReadonlyArray<string>>;

/** Elements whose text is a name, an ID or the name of a language. */
const names =
  /<(\w+)[^>]*? (?:dir="auto"|dir="ltr"|lang="|class="picture")[^>]*>.*?<\/\1>|<code>.*?<\/code>|<style>.*?<\/style>/gs;
/** Elements within a sentence. */
const inline = /<\/?(?:a|b|bdi|small|span|strong|time)\b[^>]*>/g;

const textsOf = ({ text }: Answer): ReadonlyArray<string> => {
  const page = text.replace(/<html[^>]*>/, "").replace(names, "");
  const attributes = [...page.matchAll(/ (?:alt|title|aria-label)="([^"]*)"/g)].map(([, value]) => value);
  return [...page.replace(inline, "").split(/<[^>]*>/), ...attributes]
    .map((each = "") => each.replace(/\s+/g, " ").trim())
    .filter((each) => each !== "");
};

/** Visits the pages and uses the commands in this language, as a member of their own. */
const walk = async (language: LanguageTag): Promise<Texts> => {
  const texts: Texts = new Map();
  const keep = (name: string, status: number, answer: Answer) => {
    expect([name, answer.status]).toEqual([name, status]);
    texts.set(name, textsOf(answer));
    return answer;
  };
  const chatId = chatUsers[languageTags.indexOf(language)]?.id ?? "";
  const visitor = () => {
    const browser = newBrowser();
    browser.cookies.set("accountlink_language", language);
    return browser;
  };
  const browser = visitor();
  const newSession = async (asked: object = {}) => {
    const body = { clientId: "client", guildId: guild, ...asked };
    const created = await send("POST /v2/sessions", { key: club, from: fixtures.address(), body });
    return `?sid=${textOf(created.body.data?.sid)}`;
  };

  keep("/", 200, await browser.get("/"));
  keep("/go", 200, await browser.get("/go"));
  keep("a wrong code", 404, await browser.post("/go", { code: "BCDF-2345" }));
  for (let tries = 0; tries < 10; tries++) await browser.post("/go", { code: "BCDF-2345" });
  keep("too many codes", 429, await browser.post("/go", { code: "BCDF-2345" }));
  keep("no entry", 400, await browser.get("/verify"));
  keep("an unknown session", 404, await browser.get("/verify?sid=none"));
  keep("no method", 405, await browser.get("/verify/confirm"));
  keep("no cookie", 400, await browser.get("/verify/chat/start"));

  const first = await newSession();
  keep("the beginning", 200, await browser.get(`/verify${first}`));
  keep("no chat proof", 400, await browser.get(`/verify/game/start${first}`));
  keep("a denied chat sign-in", 403, await browser.prove("chat", { deny: true }, first));
  await browser.prove("chat", chatId, first);
  keep("one proof", 200, await browser.get(`/verify${first}`));
  await browser.prove("game", "1");
  const both = keep("both proofs", 200, await browser.get(`/verify${first}`));
  keep("a forged form", 403, await browser.post("/verify/confirm", { csrf: "wrong" }));
  keep("linked", 200, await browser.post("/verify/confirm", formOf(both)));
  keep("already linked", 409, await browser.get(`/verify${first}`));
  keep("another user", 403, await browser.prove("chat", "100040", await newSession({ chatId })));

  const choice = await browser.walk(await newSession(), chatId, "2");
  keep("two game accounts", 200, choice);
  keep("kept", 200, await browser.post("/verify/confirm", { ...formOf(choice), keep: "1" }));
  const second = await newSession();
  const declined = await browser.walk(second, chatId, "2");
  keep("cancelled", 200, await browser.post("/verify/cancel", formOf(declined)));
  keep("cancelled before", 409, await browser.get(`/verify${second}`));

  const say = async (name: string, done: object, guildId: string | null = guild) => {
    const sent = interactionOf(done, { chatId, guildId, locale: language, permissions: "8" });
    const answer = await sendInteraction(send, {
      ...sent,
      ...(guildId !== null && { guild_locale: language }),
    });
    expect([name, answer.status, answer.body.type]).toEqual([name, 200, 4]);
    const { content, components } = answer.body.data as unknown as {
      readonly content: string;
      readonly components?: ReadonlyArray<{ readonly components: ReadonlyArray<{ readonly label: string }> }>;
    };
    const labels = (components ?? []).flatMap((row) => row.components.map(({ label }) => label));
    texts.set(name, [content.replaceAll(/\*\*.*?\*\*|`[^`]*`|<[@t][^>]*>|\(<[^>]*>\)/g, ""), ...labels]);
  };
  const slash = (name: string, ...options: ReadonlyArray<object>) => ({
    type: 2,
    data: { name, type: 1, options },
  });
  const button = (custom_id: string) => ({
    type: 3,
    data: { custom_id, component_type: 2 },
    message: { id: "1", flags: 64 },
  });
  await say("/verify, linked", slash("verify"));
  await say("/whois", slash("whois", { name: "user", type: 6, value: chatId }));
  await say("/whois without a link", slash("whois", { name: "user", type: 6, value: "100039" }));
  await say("/panel", slash("panel"));
  await say("/unlink", slash("unlink"));
  await say("a command that is gone", slash("gone"));
  await say("a button that is gone", button("gone"));
  await say("a direct message", slash("verify"), null);

  const own = await signIn(chatId, browser, "me");
  const data = keep("/me", 200, await own.get("/me"));
  const { csrf = "" } = formOf(data);
  keep("/me/export", 200, await own.get("/me/export"));
  keep("a forged form on /me", 403, await own.post("/me/remove", { csrf: "wrong" }));
  keep("no page below /me", 404, await own.get("/me/nowhere"));
  const pid = /name="pid" value="([^"]*)"/.exec(data.text)?.[1] ?? "";
  keep("removed", 200, await own.post("/me/remove", { csrf, pid }));
  keep("not linked", 404, await own.post("/me/remove", { csrf, pid }));
  keep("already linked, removed since", 409, await own.get(`/verify${first}`));
  await say("/verify, not linked", slash("verify"));
  await say("/unlink without a link", slash("unlink"));
  keep("forgotten browsers", 200, await own.post("/me/browsers/forget", { csrf }));
  keep("/me without links", 200, await own.get("/me"));
  keep("/me/erase", 200, await own.get("/me/erase"));
  keep("not confirmed", 400, await own.post("/me/erase", { csrf }));
  keep("erased", 200, await own.post("/me/erase", { csrf, confirm: "erase" }));
  keep("signed out", 200, await own.get("/me/signed-out"));
  keep("a lost form", 200, await own.get("/me/sign-in?form=lost"));
  keep("a form that may be done", 200, await own.get("/me/sign-in?form=ended"));
  keep("a sign-in without a start", 400, await visitor().get("/me/callback?state=x&code=y"));
  const denying = visitor();
  const leaving = locationOf(await denying.get("/me/sign-in"));
  keep("a denied sign-in to /me", 403, await denying.get(await denying.signIn(leaving, { deny: true })));
  return texts;
};

/** Names, and words that other languages have as well. */
const commonWords = new Set(
  "accountlink API BCDF Bishop Browser Browsers Contact cookie Cookie erased example help ID IP links Rook URL UTC verify".split(
    " ",
  ),
);

const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.match(/\p{Script=Latin}{2,}/gu) ?? []).filter((word) => !commonWords.has(word));

let english: Texts;
beforeAll(async () => {
  english = await walk("en");
});

/**
 * One language in Latin script and one in another find each text that has no translation in the code. The tests of the
 * languages find texts that a language lacks.
 */
const walked = languageTags.filter((tag) => (isProof ? tag !== "en" : tag === "de" || tag === "ja"));

test.each(walked)("in %s, pages and answers have no English words", async (tag) => {
  const faults: Array<string> = [];
  const isLatin = new Intl.Locale(tag).maximize().script === "Latn";
  for (const [name, texts] of await walk(tag)) {
    const source = english.get(name) ?? [];
    if (texts.length !== source.length)
      faults.push(`${name}: ${texts.length} texts, in English ${source.length}`);
    for (const text of texts) {
      const same = isLatin ? source.includes(text) : true;
      if (same && wordsOf(text).length > 0) faults.push(`${name}: ${text}`);
    }
  }
  expect(faults).toEqual([]);
});
