/** The dashboard of a game that finds nobody by name, in a real browser: no field offers names of its accounts. */
import { gameToken, player, startGame } from "@accountlink/platforms/test_game";
import { freePort, runUntil } from "@accountlink/test-servers";
import { Struct } from "effect";
import { afterAll, expect, it } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { locationOf, openBrowser } from "../support/flow_browser.ts";
import { ada, guildId, startLivePlatforms } from "../support/live_platforms.ts";
import { useServer } from "../support/server.ts";
import { closeTab, openPage } from "./browser.ts";
import { desktop, expectUsable } from "./looks.ts";

const platforms = await startLivePlatforms();
afterAll(platforms.stop);
const game = await runUntil(afterAll)(
  startGame(({ path }) => (path === "/links/" ? { status: 404 } : undefined)),
);
const port = await freePort();
const fixtures = makeFixtures();
fixtures.account({ name: "club", chatId: ada.id, tier: "premium" });
fixtures.key({ account: "club", guildId, links: { [ada.id]: player.id } });
fixtures.key({ account: "club" });
const { url } = useServer(() => ({
  fixture: fixtures.fixture,
  env: {
    ...Struct.omit(platforms.env, ["ACCOUNTLINK_GAME_CLIENT_ID", "ACCOUNTLINK_GAME_CLIENT_SECRET"]),
    ACCOUNTLINK_PORT: String(port),
    ACCOUNTLINK_PUBLIC_URL: `http://127.0.0.1:${port}`,
    ACCOUNTLINK_GAME_URL: game.url,
    ACCOUNTLINK_GAME_TOKEN: gameToken,
    ACCOUNTLINK_GAME_NAME: "Voxel",
    ACCOUNTLINK_CHAT_NAME: "Discord",
  },
}));
closeTab();

it("fields ask for IDs of the game, and for names of the chat platform alone", async () => {
  const visitor = openBrowser(url, fixtures.address());
  const { pathname, search } = new URL(
    platforms.signIn(locationOf(await visitor.get("/dashboard/sign-in")), ada.id),
  );
  expect((await visitor.get(pathname + search)).status).toBe(303);
  visitor.close();
  const page = await openPage(`${url()}/dashboard/links`, desktop, async (context) => {
    await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: url() })));
  });
  const hintOf = (field: string) => page.locator(`main #${field}-hint`).first().textContent();
  const [ofGame, ofEither] = ["ID: Voxel finds nobody by name", "ID, or user name on Discord"];
  await expectUsable(page, "Links", "nameless-links");
  expect(await hintOf("q")).toBe(ofEither);
  await page.getByText("Link a user", { exact: true }).click();
  expect(await hintOf("chat")).toBe("ID or user name");
  expect(await hintOf("game")).toBe(ofGame);

  await page.goto(`${url()}/dashboard/links/user?chatId=${ada.id}`);
  expect(await hintOf("game")).toBe(ofGame);
  await page.goto(`${url()}/dashboard/alts`);
  expect(await hintOf("id")).toBe(ofEither);
  await page.goto(`${url()}/dashboard/links/blocks`);
  expect(await hintOf("id")).toBe(ofEither);
  expect(await hintOf("users")).toContain("IDs, or user names on Discord, one a line");
  await page.goto(`${url()}/dashboard/links?q=${ada.id}`);
  const found = await page.locator("main").textContent();
  expect(found).toContain("Searched by ID, or the beginning of a member’s name on Discord.");
  expect(found).not.toContain("whole user name");
});
