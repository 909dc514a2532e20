/**
 * An owner's walk through the dashboard in a made-up language, whose letters all have accents: a text without accents
 * is not from the catalogue. Texts that are English say so by their `lang`. Its words are longer, and no text is cut in the
 * narrowest window, also with the page mirrored for a language from right to left.
 */
import { dashboardFiles } from "@accountlink/pages/languages";
import { afterAll, expect, it } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { type Element, parsed } from "../support/markup.ts";
import { pseudoLanguage } from "../support/pseudo_language.ts";
import { show } from "./browser.ts";
import { cutTexts } from "./cut_texts.ts";
import { ownGuild, shows, twoLists, useDashboard } from "./dashboard_pages.ts";
import { contentWidth, narrowest } from "./looks.ts";

const leaked = newToken();
const { keys, links } = twoLists("engine", ["100003", "100004"]);
const { open, send } = useDashboard(
  () => ({
    accounts: [{ name: "engine", chatId: "100001", tier: "premium" }],
    keys: [...keys, { account: "engine", scope: "global", key: leaked }],
    links,
  }),
  { here: true },
);

const { default: english } = await dashboardFiles.en();
const pseudo = pseudoLanguage(english);

/** The made-up language takes the place of this one, whose numbers, dates and lists have no letters of ours. */
const tag = "ja";
const { [tag]: usual } = dashboardFiles;
Object.assign(dashboardFiles, { [tag]: () => Promise.resolve({ default: pseudo }) });
afterAll(() => {
  Object.assign(dashboardFiles, { [tag]: usual });
});

/** Names and data, which are the same in every language. */
const data = new RegExp(
  [
    "accountlink|Rook & Bishop|Without the bot|<script>.*</script>|<img.*>|Ada|Newcomer|Busy|newcomer|busy",
    String.raw`@\w+|[Pp]layer[ _]\d|\bMember\b|engine|# general|UTC|bot\.csv|pid_\w+|https?:\S+|\b[\da-f]{12}\b|ID \d+`,
    "Free|Premium|URL|^no$",
    // The example of a nickname.
    "Lady|Officer|ada_g",
    // Columns and kinds of files.
    String.raw`chatId|gameId|Discord ID|Verified At|timestamp|verified|status|active|\w+_\w+|\.(?:csv|tsv|txt|jsonl?|ndjson)\b`,
  ].join("|"),
  "g",
);

/** The texts of a page that claim to be in its language. */
const textsIn = (element: Element): ReadonlyArray<string> => {
  const { lang = tag, ...attributes } = element.attributes;
  if (/^(?:script|style|svg|iframe|code|pre)$/.test(element.tag) || lang !== tag) return [];
  const said = ["aria-label", "placeholder", "title", "data-label"].flatMap((name) => attributes[name] ?? []);
  const inside = element.children.flatMap((child) => (typeof child === "string" ? [child] : textsIn(child)));
  return [...said, ...inside];
};

it("every text on the dashboard is from the catalogue, a name, or marked as English, and none is cut", async () => {
  await send("POST /v2/keys/leaked", { body: { key: leaked } });
  const page = await open(`/dashboard?lang=${tag}`, /Ada\b/);
  const found: Record<string, ReadonlyArray<string>> = {};
  const expectWorded = async () => {
    expect(page.answer.text).toContain(`<html lang="${tag}" dir="ltr">`);
    const texts = textsIn(parsed(page.answer.text)).filter((text) =>
      /[A-Za-z]{2}/.test(text.replaceAll(data, "")),
    );
    // In a language from right to left, "@ada" would end with its "@".
    expect(page.answer.text).not.toMatch(/(?<!<bdi dir="ltr">|&gt;)@\w/);
    if (texts.length > 0) found[page.path] = texts;
    const shown = await show(page);
    await shown.setViewportSize(narrowest.viewport);
    await shown.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
    for (const dir of ["ltr", "rtl"]) {
      await shown.evaluate(`document.documentElement.dir = "${dir}"`);
      const cut = await cutTexts(shown);
      if (cut.length > 0) found[`${page.path} in ${dir}`] = cut;
      expect(await contentWidth(shown)).toBe(narrowest.viewport.width);
    }
  };
  const labelOf = (key: string) => (pseudo[key] ?? key).replaceAll(/<[^>]*>/g, "");
  const press = (key: string, entries: Parameters<typeof page.press>[1] = {}) =>
    page.press(labelOf(key), entries);

  await expectWorded();
  const chatId = "100003";
  await page.goto("/dashboard/links");
  const [pid = ""] = /pid_\w+/.exec(page.answer.text) ?? [];
  for (const path of [
    "/links",
    "/links?sort=name",
    `/links?q=${chatId}`,
    "/links?q=0",
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
    `/communities/${pid}/roles/history?guildId=${ownGuild}`,
    "/communities",
    `/communities/${pid}`,
    `/communities/${pid}/delete`,
    "/account",
    "/account/delete",
    "/account/choose",
    "/preview",
    "/team",
    "/keys",
    "/usage",
    "/webhooks",
    "/events",
    "/try",
    "/audit",
    "/audit?chatId=0",
  ]) {
    await page.goto(`/dashboard${path}`);
    await expectWorded();
  }

  await page.goto(`/dashboard/communities/${pid}`);
  await press("channels.save", { [labelOf("community.supportUrl")]: "http://no" });
  await expectWorded();
  await page.goto(`/dashboard/communities/${pid}/roles?guildId=${ownGuild}`);
  await press("roles.save_off", {
    [labelOf("rule.gets")]: "Member",
    [labelOf("roles.nickname.label")]: "no",
  });
  await expectWorded();
  await press("roles.see_then_on", { [labelOf("roles.nickname.label")]: "" });
  await expectWorded();
  await shows(page, labelOf("preview.turn_on"));
  await expectWorded();
  await press("preview.turn_on");
  await expectWorded();
  await page.goto(`/dashboard/links/unlink?pid=${pid}&chatId=${chatId}`);
  await expectWorded();
  await press("unlink.button");
  await expectWorded();
  await page.goto("/dashboard/imports");
  await press("import.preview", {
    [labelOf("import.file")]: new File([`chatId,gameId\n${chatId},2\n100006,x\n100007,2\n`], "bot.csv"),
  });
  await expectWorded();
  const [, ofOne = ""] = /one \{(.*?)\}/.exec(pseudo["import.start"] ?? "") ?? [];
  await page.press(ofOne.replace("#", "1"));
  await shows(page, labelOf("import.done"));
  await expectWorded();
  await page.goto("/dashboard/team");
  await press("team.next", { [labelOf("team.who")]: "newcomer" });
  await expectWorded();
  await page.press(labelOf("team.invite.button").replace("{name}", "Newcomer"));
  await expectWorded();
  await page.goto("/dashboard/audit");
  await expectWorded();
  expect(found).toEqual({});
});
