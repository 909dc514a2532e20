/** The pages of members who have none of the ways to prove a game account, in a real browser. */
import { expect, it } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { closeTab, keepPicture, openPage } from "./browser.ts";
import { press } from "./flow_pages.ts";
import { contentWidth, desktop, expectUsable, narrowest } from "./looks.ts";

const carol = { id: "100001", username: "carol", displayName: "Carol" };

const serverWith = (ways: string) => {
  const fixtures = makeFixtures();
  const key = fixtures.key({ account: "Chess Club" });
  const server = useServer(() => ({
    fixture: { ...fixtures.fixture, platform: { guilds: [], chatUsers: [carol], gameUsers: [] } },
    env: { ACCOUNTLINK_GAME_PROOFS: ways, ACCOUNTLINK_GAME_NAME: "Steam", ACCOUNTLINK_CHAT_NAME: "Discord" },
  }));
  return { ...server, key, fixtures };
};

const servers = { connection: serverWith("connection"), known: serverWith("known") };
closeTab();

it.each([
  ["connection", "Discord does not name a connected account", "/chat/oauth/authorize"],
  ["known", "Nobody can show here yet", "/go"],
] as const)(
  "who has nothing for %s, the only way, reads what it takes and goes on",
  async (way, text, next) => {
    const { send, key, fixtures } = servers[way];
    const body = { clientId: "member" };
    const created = await send("POST /v2/sessions", { key, from: fixtures.address(), body });
    const page = await openPage(textOf(created.body.data?.url), desktop);
    await keepPicture(page, `no-way-${way}-before`);
    await page.setViewportSize(narrowest.viewport);
    await keepPicture(page, `no-way-${way}-before-narrow`);
    await press(page, "Sign in to Discord");
    await press(page, "Carol");
    await page.getByText(text).waitFor();
    await expectUsable(page, "Link your accounts", `no-way-${way}`);
    await page.setViewportSize(narrowest.viewport);
    await keepPicture(page, `no-way-${way}-after-narrow`);
    expect(await contentWidth(page)).toBe(narrowest.viewport.width);
    await page.setViewportSize(desktop.viewport);
    await keepPicture(page, `no-way-${way}-after`);
    await press(page, way === "connection" ? "Try again" : "Enter a code");
    await expect.poll(() => new URL(page.url()).pathname).toBe(next);
  },
);
