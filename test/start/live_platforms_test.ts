/** A server on live platforms, from a session to its link. */

import { freePort } from "@accountlink/test-servers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { formOf, openBrowser, withoutIsolation } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { ada, gameUser, guildId, type LivePlatforms, startLivePlatforms } from "../support/live_platforms.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";

const fixtures = makeFixtures();
const generous = { limits: { perWindow: 0 } };
const key = fixtures.key({ ...generous, tier: "premium", guildId });
const globalKey = fixtures.key(generous);

let platforms: LivePlatforms;
let server: RunningServer;
beforeAll(async () => {
  platforms = await startLivePlatforms();
  const port = String(await freePort());
  server = await startServerHere({
    fixture: fixtures.fixture,
    env: {
      ...platforms.env,
      ACCOUNTLINK_PORT: port,
      ACCOUNTLINK_PUBLIC_URL: `http://127.0.0.1:${port}`,
      ACCOUNTLINK_PROT: port,
      ACCOUNTLINK_IP_PER_SECOND: "0",
    },
  });
});
afterAll(async () => {
  await server.stop();
  await platforms.stop();
});

const openLiveBrowser = () => {
  const browser = openBrowser(() => server.url, fixtures.address());
  onTestFinished(browser.close);
  const prove = async (step: "chat" | "game", sid: string, userId: string) =>
    browser.get(platforms.signIn(await browser.leave(step, `?sid=${sid}`), userId));
  return { ...browser, prove };
};

const createSession = async () => {
  const { status, body } = await server.send("POST /v2/sessions", {
    key,
    body: { clientId: "user-1", guildId },
  });
  expect(status).toBe(201);
  return textOf(body["data"]?.["sid"]);
};

test("a verification on live platforms links the accounts of both sign-ins", async () => {
  const sid = await createSession();
  const { get, post, prove } = openLiveBrowser();
  expect(await prove("chat", sid, ada.id)).toMatchObject({ status: 303 });
  expect(await prove("game", sid, String(gameUser.id))).toMatchObject({ status: 303 });
  const page = await get(`/verify?sid=${sid}`);
  expect(page.text).toContain("ada_g");
  const done = await post("/verify/confirm", formOf(page));
  expect(done.status).toBe(200);
  expect(withoutIsolation(done.text)).toContain(
    `<a class="button" href="https://discord.com/channels/${guildId}"><span>Go back to Discord</span></a>`,
  );

  const rover = `GET /compat/rover/api/guilds/${guildId}/discord-to-roblox/${ada.id}` as const;
  expect((await server.send(rover, { key })).body).toMatchObject({ cachedUsername: "ada_g" });
  const asked = platforms.heardOfGame.map(({ path }) => path);
  expect(asked.filter((path) => /badges|groups/.test(path))).toEqual([]);

  const session = await server.send(`GET /v2/sessions/${sid}`, { key });
  expect(session.body["data"]).toMatchObject({ state: "completed", chatId: ada.id, linkChanged: true });
  const link = await server.send(`GET /v2/chat?chatId=${ada.id}&guildId=${guildId}&resolved=true`, { key });
  expect(link.body["data"]).toMatchObject({
    gameId: String(gameUser.id),
    resolved: {
      chat: { displayName: "Ada Lovelace", guild: { nickname: "Countess" } },
      game: { username: "ada_g" },
    },
  });
});

// Platforms may refuse 200 requests of an account, so guilds without the bot count as no refusal.
test("201 lookups that name as many strange guilds reach Discord once", async () => {
  const before = platforms.heard.length;
  for (let index = 1n; index <= 201n; index++) {
    const strange = BigInt(guildId) - index;
    const { body } = await server.send(`GET /v2/chat?chatId=${ada.id}&guildId=${strange}`, {
      key: globalKey,
    });
    expect(body["error"]?.["details"]).toEqual({ reason: "bot_not_in_guild" });
  }
  expect(platforms.heard.length - before).toBeLessThanOrEqual(1);
});

test("the server warns of likely mistakes, and prints no secret", () => {
  expect(server.output()).toContain('Ignored \\"platform\\" in ACCOUNTLINK_FIXTURE');
  expect(server.output()).toMatch(/ACCOUNTLINK_PROT is set, but no such variable.*"level":"WARN"/);
  for (const secret of platforms.secrets) expect(server.output()).not.toContain(secret);
});

/** Starts a server that receives joins from Discord's gateway. */
const startWithGateway = async (refusal: number | null) => {
  const club = makeFixtures();
  club.key({ account: "club", guildId });
  club.plan({ account: "club", guildId, rules: [{ roleId: "5", when: { is: "linked" } }] });
  const own = await startLivePlatforms();
  onTestFinished(own.stop);
  own.gateway.refusal = refusal;
  const joined = await startServerHere({
    fixture: club.fixture,
    env: { ...own.env, ACCOUNTLINK_PUBLIC_URL: "http://127.0.0.1", ACCOUNTLINK_CHAT_GATEWAY: "on" },
  });
  onTestFinished(async () => void (await joined.stop()));
  const isConnected = async () =>
    /^accountlink_chat_gateway_connected (\d)$/m.exec((await joined.send("GET /metrics")).text)?.[1];
  return { joined, gateway: own.gateway, secrets: own.secrets, isConnected };
};

test("a server is connected to the gateway, and counts joins", async () => {
  const { joined, gateway, isConnected } = await startWithGateway(null);
  await expect.poll(isConnected).toBe("1");
  gateway.join(guildId, "100001");
  await expect
    .poll(async () => (await joined.send("GET /metrics")).text)
    .toMatch(/^accountlink_chat_joins_total 1$/m);
});

test("a server without the intent says so once, and serves", async () => {
  const { joined, gateway, secrets, isConnected } = await startWithGateway(4014);
  await expect.poll(joined.output).toMatch(/refuses to report joins.*server members/);
  expect(await isConnected()).toBe("0");
  expect(gateway.countOf("identify")).toBe(1);
  expect((await joined.send("GET /readyz")).status).toBe(200);
  for (const secret of secrets) expect(joined.output()).not.toContain(secret);
});
