/** An owner who reads Japanese, and in the proof Portuguese, sets a community up in a real browser. */
import { dashboardFiles } from "@accountlink/pages/languages";
import { isProof } from "@accountlink/test-servers";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { useDashboard } from "./dashboard_pages.ts";
import { contentWidth, phone } from "./looks.ts";

const guilds = ["Castelo", "Shiro"].map((name, index) => ({
  id: `70000000000000001${index}`,
  name,
  members: [{ chatId: "100001", manager: true }, { chatId: "100002" }],
  roles: [{ id: "13", name: "Torre", assignable: true }],
}));

const { visit } = useDashboard(() => ({
  platform: { guilds },
  accounts: [{ name: "engine", chatId: "100001", tier: "premium" }],
  keys: guilds.map(({ id }) => ({ account: "engine", scope: "guild", guildId: id, key: newToken() })),
}));

type Messages = Readonly<Record<string, string>>;

const { default: english } = await dashboardFiles.en();

/** Words that no text in Portuguese or Japanese has. */
const englishWords = /\b(?:the|of|and|is|are|was|were|you|your|this|that|with|not|by|has|have|who|on)\b/i;

/** The texts that a reader sees, or hears from a screen reader, in the language of the page. */
const textsOf = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`
    [...document.querySelectorAll("body *")].filter((element) => {
      const { lang } = element.closest("[lang]");
      return lang === document.documentElement.lang && !element.closest("script, style, svg, iframe, code, pre");
    }).flatMap((element) => [
      ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()),
      ...["aria-label", "placeholder", "title", "data-label"].map((name) => element.getAttribute(name) ?? ""),
    ]).filter((text) => text !== "")`);

const walks = [
  ["pt-BR", "Castelo", "newcomer", "Newcomer", "100006,1"],
  ["ja", "Shiro", "busy", "Busy", "100007,2"],
] as const;

it.each(walks.filter(([tag]) => isProof || tag === "ja"))(
  "an owner gets roles right, imports a file, invites a moderator and reads the audit log in %s",
  async (tag, guild, user, name, row) => {
    const messages: Messages = (await dashboardFiles[tag]()).default;
    const untranslated = new Set(
      Object.entries(english).flatMap(([key, text]) => (messages[key] === text ? [] : [text])),
    );
    /** A message without its tags, with the values that a test knows. */
    const said = (key: string, values: Messages = {}) =>
      Object.entries(values).reduce(
        (text, [value, written]) => text.replaceAll(`{${value}}`, written),
        (messages[key] ?? key).replaceAll(/<\/?\w+>/g, ""),
      );
    const page = await visit(`/dashboard/communities?lang=${tag}`, null, phone);
    await page.getByRole("button", { name: /Ada\b/ }).click();
    const expectNoEnglish = async () => {
      const found = (await textsOf(page)).filter((text) => englishWords.test(text) || untranslated.has(text));
      expect([page.url(), found]).toEqual([page.url(), []]);
      expect(await contentWidth(page)).toBe(phone.viewport.width);
    };
    const press = (key: string, values?: Messages) =>
      page.getByRole("button", { name: said(key, values), exact: true }).click();
    const field = (key: string) => page.getByLabel(said(key), { exact: true });

    await expectNoEnglish();
    await page.locator("a[href$='/roles']", { hasText: guild }).click();
    await expectNoEnglish();
    await field("rule.gets").selectOption({ label: "Torre" });
    await press("roles.see_then_on");
    await page.getByRole("button", { name: said("preview.turn_on"), exact: true }).waitFor();
    await expectNoEnglish();
    await press("preview.turn_on");
    await page.getByText(said("notice.rolesOn")).waitFor();
    await expectNoEnglish();

    await page.goto(new URL("/dashboard/imports", page.url()).href);
    const file = Buffer.from(`chatId,gameId\n${row}\n100008,x\n`);
    await field("import.file").setInputFiles({ name: "bot.csv", mimeType: "text/csv", buffer: file });
    await press("import.preview");
    await page.getByText(said("import.is_preview")).waitFor();
    await expectNoEnglish();
    await page.locator("form[action$='/start'] button").click();
    await page.getByRole("heading", { name: said("import.done"), exact: true }).waitFor();
    await expectNoEnglish();

    await page.goto(new URL("/dashboard/links", page.url()).href);
    await expectNoEnglish();

    await page.goto(new URL("/dashboard/account", page.url()).href);
    await expectNoEnglish();

    await page.goto(new URL("/dashboard/team", page.url()).href);
    await expectNoEnglish();
    await field("team.who").fill(user);
    await press("team.next");
    await expectNoEnglish();
    await press("team.invite.button", { name });
    await page.getByText(said("notice.memberInvited")).waitFor();
    await page.goto(new URL("/dashboard/audit", page.url()).href);
    await page.getByText("bot.csv").first().waitFor();
    await expectNoEnglish();
  },
);
