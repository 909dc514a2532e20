/** An owner's walk through the dashboard in another language. Texts that are English say so by their `lang`. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { type Element, parsed } from "../support/markup.ts";
import { ownGuild, useDashboard } from "./dashboard_pages.ts";

const { open } = useDashboard((fixture) => {
  const scopes = [{ scope: "global" }, { scope: "guild", guildId: ownGuild }] as const;
  const at = new Date(Date.now() - 86_400_000).toISOString();
  return {
    ...fixture,
    accounts: [{ name: "engine", chatId: "100001", tier: "premium" }],
    keys: scopes.map((scope) => ({ account: "engine", ...scope, key: newToken() })),
    links: scopes.flatMap((scope, index) =>
      ["100003", "100004"].map((chatId) => ({
        account: "engine",
        ...scope,
        chatId,
        gameId: String(index + 1),
        lastVerifiedAt: at,
      })),
    ),
  };
});

/** Names of the fixture, which are not translated: a guild, and a role. */
const names = /Without the bot|^\s*Member\s*$/;

type Messages = Readonly<Record<string, string>>;

const messagesOf = (tag: string): Messages =>
  JSON.parse(
    readFileSync(new URL(`../../packages/pages/languages/dashboard/${tag}.json`, import.meta.url), "utf8"),
  ) as Messages;

const english = messagesOf("en");

/** The texts of a page that claim to be in its language. */
const textsIn = (element: Element, tag: string): ReadonlyArray<string> => {
  const { lang = tag, ...attributes } = element.attributes;
  if (/^(?:script|style|svg|iframe|code|pre)$/.test(element.tag) || lang !== tag) return [];
  const said = ["aria-label", "placeholder", "title", "data-label"].flatMap((name) => attributes[name] ?? []);
  const inside = element.children.flatMap((child) =>
    typeof child === "string" ? [child] : textsIn(child, tag),
  );
  return [...said, ...inside].map((text) => text.replace(names, "").trim()).filter((text) => text !== "");
};

/** Words that no text in Portuguese or Japanese has. */
const englishWords = /\b(?:the|of|and|is|are|was|were|you|your|this|that|with|not|by|has|have|who)\b/i;

const walks = [
  ["pt-BR", "100003"],
  ["ja", "100004"],
] as const;

it.each(walks)("an owner reads no English on the pages of the dashboard in %s", async (tag, chatId) => {
  const messages = messagesOf(tag);
  const untranslated = new Set(
    Object.entries(english).flatMap(([key, text]) => (messages[key] === text ? [] : [text])),
  );
  const page = await open(`/dashboard?lang=${tag}`, /Ada\b/);
  const expectNoEnglish = () => {
    expect(page.answer.text).toContain(`<html lang="${tag}" dir="ltr">`);
    const found = textsIn(parsed(page.answer.text), tag).filter(
      (text) => englishWords.test(text) || untranslated.has(text),
    );
    expect([page.path, found]).toEqual([page.path, []]);
  };
  const press = (key: string, entries: Parameters<typeof page.press>[1] = {}) =>
    page.press((messages[key] ?? key).replaceAll(/<[^>]*>/g, ""), entries);

  expectNoEnglish();
  await page.goto("/dashboard/links");
  const [pid = ""] = /pid_\w+/.exec(page.answer.text) ?? [];
  for (const path of [
    "/links",
    "/links?sort=name",
    `/links?q=${chatId}`,
    "/links?q=nobody%20at%20all",
    `/links/user?chatId=${chatId}`,
    `/links/unlink-all?chatId=${chatId}`,
    "/links/unlinked",
    "/links/blocks",
    `/links/block?pid=${pid}&chatId=${chatId}`,
    "/imports",
    "/alts",
    `/alts?pid=${pid}&kind=chat&id=${chatId}`,
    "/alts/new",
    `/communities/${pid}/channels?guildId=${ownGuild}`,
    `/communities/${pid}/roles?guildId=${ownGuild}`,
    "/communities",
    `/communities/${pid}`,
    `/communities/${pid}/delete`,
    "/account",
    "/account/delete",
    "/account/choose",
    "/preview",
    "/team",
    "/audit",
    "/audit?chatId=nobody",
  ]) {
    await page.goto(`/dashboard${path}`);
    expectNoEnglish();
  }

  await page.goto(`/dashboard/links/unlink?pid=${pid}&chatId=${chatId}`);
  expectNoEnglish();
  await press("unlink.button");
  expectNoEnglish();
  await page.goto("/dashboard/imports");
  await press("import.preview", {
    [messages["import.file"] ?? ""]: new File([`chatId,gameId\n${chatId},2\n100006,x\n`], "bot.csv"),
  });
  await page.goto("/dashboard/audit");
  expectNoEnglish();
});
