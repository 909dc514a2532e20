/** The pages for users in other languages: from right to left, without Latin letters, and with long words. */
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { languageOf } from "../support/languages.ts";
import { keepPicture, show } from "./browser.ts";
import { cutTexts } from "./cut_texts.ts";
import { useFlowPages } from "./flow_pages.ts";
import { contentWidth, expectUsable, phone } from "./looks.ts";

const { fixtures, newSession, walk } = await useFlowPages();
/** By default: one from right to left and one with long words; in proof runs also without spaces, in Cyrillic and Thai. */
const tags = (process.env["ACCOUNTLINK_TEST_LANGUAGES"] ?? (isProof ? "ar,de,ja,ru,th" : "ar,de")).split(",");
fixtures.key({
  account: "tired",
  links: { 100004: "1" },
  sightings: [{ chatId: "100004", ip: "203.0.113.7", device: "phone", seenAt: new Date().toISOString() }],
});

it.each(tags)("the pages in %s fit a phone, and no text is cut", async (tag) => {
  const language = await languageOf(tag);
  const { sid } = await newSession();
  const page = await walk(`/verify?sid=${sid}&lang=${tag}`);
  const look = async (title: string, name: string) => {
    expect(page.title).toBe(title);
    // Accessibility does not depend on the words, so two languages suffice: one from right to left, one without spaces.
    if (isProof && (tag === "ar" || tag === "ja")) await expectUsable(page, title, `${name}-${tag}`);
    const shown = await show(page);
    await shown.setViewportSize(phone.viewport);
    await shown.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
    expect([name, await contentWidth(shown), await cutTexts(shown)]).toEqual([
      name,
      phone.viewport.width,
      [],
    ]);
    await keepPicture(shown, `${name}-${tag}`);
  };
  await look(language.text("flow.link.title"), "begin");
  await page.press(language.text("flow.sign_in", { platform: language.text("platform.chat") }));
  await page.press(/User 2\b/);
  await look(language.text("flow.link.title"), "half");
  await page.press(language.text("flow.sign_in", { platform: language.text("platform.game") }));
  await page.press(/Player 1\b/);
  await look(language.text("flow.choice.title"), "choice");
  await page.goto("/");
  await look("accountlink", "home");
  await page.goto("/go?code=none");
  await look(language.text("code.title"), "code");
  await page.goto("/verify");
  await look(language.text("refusal.no_entry.title"), "no-entry");
  await page.goto("/me");
  await page.press(/User 4\b/);
  await look(language.text("me.title"), "me");
  await page.goto("/me/erase");
  await look(language.text("erase.title"), "erase");
});
