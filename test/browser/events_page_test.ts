import { paths } from "@accountlink/pages/dashboard";
import { describe, expect, it } from "vitest";
import { textOf } from "../support/http.ts";
import { createKey, hostile, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable, phone } from "./looks.ts";

const { visit, send, url } = await useDashboard();

describe("the events of a community", () => {
  it("the events page has no accessibility problem and fits the screen if a community has no events", async () => {
    const watched = await visit(paths.events, /Newcomer/, phone);
    await expectUsable(watched, "Events", "dashboard-events-none");
    await watched.close();
  });

  it("the events page lists events as sentences, newest first, and filters by user", async () => {
    const watched = await visit("/dashboard", /^A?\s*Ada\b/, desktop);
    const { page, close } = watched;
    const key = await createKey(page, "Walk bot");
    const write = async (line: `${string} ${string}`, body: object) =>
      expect((await send(line, { key, body })).status).toBeLessThan(300);
    await write("PATCH /v2/game", { chatId: "100001", gameId: "1" });
    await write("PATCH /v2/game", { chatId: "100001", gameId: "2" });
    await write("PATCH /v2/chat", { oldChatId: "100001", newChatId: "100002" });
    await write("DELETE /v2/game", { chatId: "100002" });
    const { body } = await send("POST /v2/sessions", { key, body: { clientId: hostile } });
    await write(`DELETE /v2/sessions/${textOf(body.data?.["sid"])}`, {});

    await page.goto(`${url()}${paths.events}`);
    await expectUsable(watched, "Events", "dashboard-events");
    const sentences = page.locator(".history li > span");
    expect(await sentences.allTextContents()).toEqual([
      `The verification of ${hostile} was cancelled`,
      `${hostile} (100002) was unlinked from Player 2 (2), by a key`,
      `The link to Player 2 (2) went from Ada (100001) to ${hostile} (100002), by a key`,
      "Ada (100001) was linked to Player 2 (2), in place of Player 1 (1), by a key",
      "Ada (100001) was linked to Player 1 (1), by a key",
    ]);
    await page.getByLabel("About the user").fill("100002");
    await press(page, "Show");
    await expect
      .poll(() => sentences.allTextContents())
      .toEqual([
        `${hostile} (100002) was unlinked from Player 2 (2), by a key`,
        `The link to Player 2 (2) went from Ada (100001) to ${hostile} (100002), by a key`,
      ]);
    await page.getByLabel("About the user").fill("nobody at all");
    await press(page, "Show");
    await expectUsable(watched, "Events", "dashboard-events-nobody");
    await close();
  });
});
