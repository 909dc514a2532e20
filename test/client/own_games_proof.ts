/** Runs the games of `examples`, up to the role of their first member. The other side of Steam is a mock. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpAnswer, runUntil, startHttpServer, whyNoPython } from "@accountlink/test-servers";
import { Struct } from "effect";
import { expect, onTestFinished, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { formOf, locationOf, openBrowser } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { ada, bob, guildId, startLivePlatforms } from "../support/live_platforms.ts";
import { startServerHere } from "../support/server.ts";
import { type RunningProgram, runtimes, startExample, startProgram } from "./program.ts";
import { pathOf, pythonWithClient } from "./python.ts";

const noPython = await whyNoPython();
const gameToken = "token-of-the-game";
const roleId = "41771983423143936";

/** Waits until an example listens, and returns its address and a function that asks it. */
const listening = async (example: RunningProgram) => {
  onTestFinished(example.stop);
  const url = `http://127.0.0.1:${await example.untilPrinted(/listening on port (\d+)/)}`;
  const get = async (path: string, token = gameToken) => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    return answer.ok ? ((await answer.json()) as unknown) : answer.status;
  };
  expect(await get("/", "wrong")).toBe(401);
  return { url, get };
};

/** Starts a service with a plan whose rule gives a role, as docs/platforms.md says. */
const startService = async (game: Readonly<Record<string, string>>, when: object, steam?: string) => {
  const connected = { id: steam, name: "bob", type: "steam", verified: true, revoked: false };
  const platforms = await startLivePlatforms({ [bob.id]: steam === undefined ? [] : [connected] });
  onTestFinished(platforms.stop);
  const fixtures = makeFixtures();
  fixtures.account({ name: "club", chatId: ada.id });
  const key = fixtures.key({ account: "club", guildId, access: "manage" });
  fixtures.plan({ account: "club", guildId, rules: [], state: "on" });
  const server = await startServerHere({
    fixture: fixtures.fixture,
    env: {
      ...Struct.omit(platforms.env, ["ACCOUNTLINK_GAME_CLIENT_ID", "ACCOUNTLINK_GAME_CLIENT_SECRET"]),
      ACCOUNTLINK_PUBLIC_URL: "https://links.example",
      ACCOUNTLINK_GAME_TOKEN: gameToken,
      ...game,
    },
  });
  onTestFinished(async () => void (await server.stop()));
  const body = { guildId, rules: [{ roleId, when }], nickname: "{game.displayName}", state: "on" };
  expect((await server.send("PUT /dashboard/api/roles", { key, body })).status).toBe(200);

  const session = { clientId: "bob", guildId };
  const created = await server.send("POST /v2/sessions", { key, body: session });
  const browser = openBrowser(() => server.url, fixtures.address());
  onTestFinished(browser.close);
  const query = `?sid=${textOf(created.body.data?.sid)}`;
  const { pathname, search } = new URL(platforms.signIn(await browser.leave("chat", query), bob.id));
  const signedIn = await browser.get(pathname + search);
  return {
    browser,
    page: await browser.get(locationOf(signedIn)),
    /** Waits until Discord is asked to give Bob the role. */
    role: () =>
      expect
        .poll(() => platforms.heard.map(({ method, path }) => `${method} ${path}`), { timeout: 20_000 })
        .toContainEqual(expect.stringMatching(`^PUT .*/members/${bob.id}/roles/${roleId}$`)),
  };
};

const gabe = {
  steamid: "76561197960287930",
  communityvisibilitystate: 3,
  profilestate: 1,
  personaname: "Rabscuttle",
  profileurl: "https://steamcommunity.com/id/gabelogannewell/",
  avatar: "https://avatars.steamstatic.com/c5d56249ee5d28a07db4ac9f7f60af961fab5426.jpg",
  avatarfull: "https://avatars.steamstatic.com/c5d56249ee5d28a07db4ac9f7f60af961fab5426_full.jpg",
  personastate: 0,
  timecreated: 1_063_407_589,
};
/** A private profile without a name of its own. */
const hidden = {
  steamid: "76561197960265738",
  communityvisibilitystate: 1,
  personaname: "Rabscuttle",
  profileurl: "https://steamcommunity.com/profiles/76561197960265738/",
};

/** What Steam's documentation says that its Web API answers. */
const startSteam = () => {
  const answer = (body: object, status = 200): HttpAnswer => ({ status, body: { response: body } });
  return runUntil(onTestFinished)(
    startHttpServer(({ path, query }): HttpAnswer => {
      if (query.get("key") !== "steam-key") {
        return { status: 403, headers: { "content-type": "text/html" }, body: "<h1>Forbidden</h1>" };
      }
      switch (path) {
        case "/ISteamUser/GetPlayerSummaries/v2/":
          return answer({
            players: [gabe, hidden].filter(({ steamid }) => steamid === query.get("steamids")),
          });
        case "/ISteamUser/ResolveVanityURL/v1/":
          return query.get("vanityurl")?.toLowerCase() === "gabelogannewell"
            ? answer({ success: 1, steamid: gabe.steamid })
            : answer({ success: 42, message: "No match" });
        case "/ISteamUser/GetUserGroupList/v1/":
          return query.get("steamid") === gabe.steamid
            ? answer({ success: true, groups: [{ gid: "4" }, { gid: "1" }] })
            : answer({ success: false, error: "Private profile" }, 403);
        case "/IPlayerService/GetOwnedGames/v1/":
          return query.get("steamid") === gabe.steamid
            ? answer({ game_count: 1, games: [{ appid: 570, playtime_forever: 22 }] })
            : answer({});
        default:
          return { status: 429, headers: { "retry-after": "7" } };
      }
    }),
  );
};

test.each(Object.keys(runtimes))("Steam is a game of the service, on %s", async (runtime) => {
  const steam = await startSteam();
  const env = { STEAM_API: steam.url, STEAM_KEY: "steam-key", GAME_TOKEN: gameToken, PORT: "0" };
  const { url, get } = await listening(startExample(runtime, "steam_game.ts", env));
  const user = {
    id: gabe.steamid,
    username: "gabelogannewell",
    displayName: "Rabscuttle",
    profileUrl: gabe.profileurl,
    avatarUrl: gabe.avatarfull,
    createdAt: "2003-09-12T22:59:49.000Z",
  };
  const private_ = `/users/${hidden.steamid}`;
  expect(await get("/")).toEqual({ features: ["names", "groups", "items", "ages"], items: ["app"] });
  expect(await get(`/users/${gabe.steamid}`)).toEqual(user);
  expect(await get("/users?username=GabeLoganNewell")).toEqual(user);
  expect(await get(`/users?username=${hidden.steamid}`)).toMatchObject({
    id: hidden.steamid,
    createdAt: null,
  });
  expect(await get("/users?username=nobody")).toBe(404);
  for (const id of ["76561197960287931", "1", "ada"]) expect(await get(`/users/${id}`)).toBe(404);
  expect(await get(`/users/${gabe.steamid}/groups`)).toEqual({ groups: [{ id: "4" }, { id: "1" }] });
  expect(await get(`${private_}/groups`)).toEqual({ groups: [] });
  expect(await get("/groups/4")).toEqual({ id: "4", name: null, ranks: [] });
  expect(await get(`/users/${gabe.steamid}/items/app/570`)).toEqual({ owned: true });
  expect(await get(`/users/${gabe.steamid}/items/app/440`)).toEqual({ owned: false });
  expect(await get(`${private_}/items/app/570`)).toEqual({ owned: false });
  expect(await get(`/users/${gabe.steamid}/items/badge/570`)).toBe(404);

  if (runtime !== "Node") return;
  const { page, browser, role } = await startService(
    { ACCOUNTLINK_GAME_URL: url, ACCOUNTLINK_GAME_NAME: "Steam", ACCOUNTLINK_GAME_CONNECTION: "steam" },
    {
      is: "all",
      of: [
        { is: "group", groupId: "4" },
        { is: "owner", item: "app", itemId: "570" },
      ],
    },
    gabe.steamid,
  );
  expect(page.text).toContain("Rabscuttle");
  expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(200);
  await role();
});

test("an outage of Steam, or a wrong key, is no answer about a player", async () => {
  const steam = await startSteam();
  const start = (changes: Readonly<Record<string, string>>) =>
    listening(
      startExample("Node", "steam_game.ts", {
        STEAM_API: steam.url,
        STEAM_KEY: "steam-key",
        GAME_TOKEN: gameToken,
        PORT: "0",
        ...changes,
      }),
    );
  const refused = await start({ STEAM_KEY: "wrong" });
  expect(await refused.get(`/users/${gabe.steamid}`)).toBe(502);
  expect(await refused.get(`/users/${gabe.steamid}/groups`)).toBe(502);
  const limited = await start({ STEAM_API: `${steam.url}/elsewhere` });
  expect(await limited.get(`/users/${gabe.steamid}`)).toBe(429);
  const gone = await start({ STEAM_API: "http://127.0.0.1:1" });
  expect(await gone.get(`/users/${gabe.steamid}`)).toBe(502);
});

test.skipIf(noPython !== null)(`a file of players is a game of the service ${noPython ?? ""}`, async () => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-game-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "players.json");
  const player = { id: "1001", username: "Bob_G", displayName: "Bob", createdAt: "2024-05-01T00:00:00Z" };
  const write = (description: string) =>
    writeFile(
      file,
      JSON.stringify({
        groups: [{ id: "7", name: "Miners", ranks: [{ rank: 1, name: "Member" }] }],
        players: [
          { ...player, description, groups: { 7: 1 }, items: { skin: ["55"] }, email: "bob@play.example" },
        ],
      }),
    );
  await write("Digs");
  const { file: python, env } = await pythonWithClient();
  const { url, get } = await listening(
    startProgram([python, pathOf("examples/own_game.py"), file], folder, {
      ...env,
      GAME_TOKEN: gameToken,
      PORT: "0",
    }),
  );
  const told = { ...player, description: "Digs" };
  expect(await get("/")).toEqual({
    features: ["names", "groups", "items", "descriptions", "ages"],
    items: ["skin"],
  });
  expect(await get("/users/1001")).toEqual(told);
  expect(await get("/users?username=BOB_g")).toEqual(told);
  expect(await get("/users/1001/groups")).toEqual({
    groups: [{ id: "7", name: "Miners", rank: 1, role: "Member" }],
  });
  expect(await get("/groups/7")).toEqual({ id: "7", name: "Miners", ranks: [{ rank: 1, name: "Member" }] });
  expect(await get("/users/1001/items/skin/55")).toEqual({ owned: true });
  expect(await get("/users/1001/items/skin/56")).toEqual({ owned: false });
  const absent = ["/users/2", "/users?username=b", "/users/2/groups", "/groups/8", "/users/1001/items/hat/1"];
  for (const path of absent) expect([path, await get(path)]).toEqual([path, 404]);

  const { page, browser, role } = await startService(
    { ACCOUNTLINK_GAME_URL: url, ACCOUNTLINK_GAME_NAME: "Voxel" },
    { is: "group", groupId: "7", minRank: 1, maxRank: null },
  );
  const named = await browser.post("/verify/game/words", { ...formOf(page), username: "bob_g" });
  const [, words = ""] = /id="words"[^>]*>([^<]+)</.exec(named.text) ?? [];
  await write(words);
  const proven = await browser.post("/verify/game/words/check", formOf(named));
  const confirm = await browser.get(locationOf(proven));
  expect((await browser.post("/verify/confirm", formOf(confirm))).status).toBe(200);
  await role();
  await writeFile(file, "{");
  expect(await get("/users/1001")).toBe(503);
});
