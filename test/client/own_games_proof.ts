/** Runs the games of `examples`, up to the role of their first member. The other side of Steam is a mock. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, type HttpAnswer, runUntil, startHttpServer, whyNoPython } from "@accountlink/test-servers";
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
  const service = await startedService(game, when, steam);
  const session = { clientId: "bob", guildId };
  const created = await service.server.send("POST /v2/sessions", { key: service.key, body: session });
  return { ...service, ...(await service.signIn(`?sid=${textOf(created.body.data?.sid)}`)) };
};

const startedService = async (game: Readonly<Record<string, string>>, when: object, steam?: string) => {
  const connected = { id: steam, name: "bob", type: "steam", verified: true, revoked: false };
  const platforms = await startLivePlatforms({ [bob.id]: steam === undefined ? [] : [connected] });
  onTestFinished(platforms.stop);
  const fixtures = makeFixtures();
  fixtures.account({ name: "club", chatId: ada.id });
  const key = fixtures.key({ account: "club", guildId, access: "manage" });
  const gameKey = fixtures.key({ account: "club", guildId, access: "game" });
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

  return {
    server,
    key,
    gameKey,
    /** Signs Bob in at Discord, and returns the next page. */
    signIn: async (query: string) => {
      const browser = openBrowser(() => server.url, fixtures.address());
      onTestFinished(browser.close);
      const { pathname, search } = new URL(platforms.signIn(await browser.leave("chat", query), bob.id));
      const signedIn = await browser.get(pathname + search);
      return { browser, page: await browser.get(locationOf(signedIn)) };
    },
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

test.skipIf(noPython !== null)(
  `a file of players, with IDs as numbers, is a game of the service ${noPython ?? ""}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "accountlink-game-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "players.json");
    const player = { id: "1001", username: "Bob_G", displayName: "Bob", createdAt: "2024-05-01T00:00:00Z" };
    const write = (description: string) =>
      writeFile(
        file,
        JSON.stringify({
          groups: [{ id: 7, name: "Miners", ranks: [{ rank: 1, name: "Member" }] }],
          players: [
            {
              ...player,
              id: Number(player.id),
              description,
              groups: { 7: 1 },
              items: { skin: [55] },
              email: "bob@play.example",
            },
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
    const absent = [
      "/users/2",
      "/users?username=b",
      "/users/2/groups",
      "/groups/8",
      "/users/1001/items/hat/1",
    ];
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
  },
);

const notch = { uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5", name: "Notch" };

/** Mojang's two public routes. */
const startMojang = (answers: { status: number }) =>
  runUntil(onTestFinished)(
    startHttpServer(({ path }): HttpAnswer => {
      if (answers.status !== 200) return { status: answers.status, headers: { "retry-after": "7" } };
      const body = { id: notch.uuid.replaceAll("-", ""), name: notch.name };
      if (path === `/profile/${body.id}`) return { body: { ...body, properties: [] } };
      if (path.startsWith("/profile/")) return { status: 204 };
      return path.toLowerCase() === "/names/notch" ? { body } : { status: 404 };
    }),
  );

test.skipIf(noPython !== null)(`Minecraft is a game of the service ${noPython ?? ""}`, async () => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-game-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const mojang = { status: 200 };
  const { url: mojangUrl } = await startMojang(mojang);
  const { file: python, env } = await pythonWithClient();
  const program = [python, pathOf("examples/minecraft.py"), join(folder, "players.db")] as const;

  const accounts = join(folder, "accounts.aof");
  const [older, newer] = ["200000000000000001", "200000000000000002"];
  const other = notch.uuid.replace("0", "1");
  await writeFile(accounts, `${older} ${notch.uuid}\n${newer} ${notch.uuid}\n${older} ${other}\n`);
  const imported = startProgram([...program, accounts], folder, env);
  expect(await imported.ended).toBe(0);
  expect(imported.output()).toBe(`chatId,gameId\n${newer},1\n${older},2\n`);
  await writeFile(accounts, JSON.stringify({ [older]: other, [newer]: notch.uuid }));
  const again = startProgram([...program, accounts], folder, env);
  expect(await again.ended).toBe(0);
  expect(again.output()).toBe(`chatId,gameId\n${older},2\n${newer},1\n`);

  const port = await freePort();
  const { server, gameKey, signIn, role } = await startedService(
    { ACCOUNTLINK_GAME_URL: `http://127.0.0.1:${port}`, ACCOUNTLINK_GAME_NAME: "Minecraft" },
    { is: "linked" },
  );
  const { url, get } = await listening(
    startProgram(program, folder, {
      ...env,
      GAME_TOKEN: gameToken,
      PORT: String(port),
      MOJANG_NAMES: `${mojangUrl}/names`,
      MOJANG_PROFILES: `${mojangUrl}/profile`,
      ACCOUNTLINK_URL: server.url,
      ACCOUNTLINK_KEY: gameKey,
      GUILD_ID: guildId,
    }),
  );
  const player = { id: "1", username: notch.name };
  expect(await get("/")).toEqual({ features: ["names"] });
  expect(await get("/users/1")).toEqual(player);
  expect(await get("/users?username=NOTCH")).toEqual(player);
  for (const path of ["/users/2", "/users/9", "/users/x", "/users?username=herobrine", "/groups/1"]) {
    expect([path, await get(path)]).toEqual([path, 404]);
  }
  const link = async (body: object, token = gameToken) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/link`, { method: "POST", headers, body: JSON.stringify(body) });
    return {
      status: answer.status,
      body: (await answer.json()) as { id?: string; url?: string; code?: string },
    };
  };
  expect(await link(notch, "wrong")).toMatchObject({ status: 401 });
  expect(await link({ uuid: "x", name: "x" })).toMatchObject({ status: 400 });
  // A player of Bedrock. Mojang does not know them.
  const bedrock = { uuid: "00000000-0000-0000-0009-01f1a2b3c4d5", name: ".Ada B" };
  expect(await link(bedrock)).toMatchObject({ status: 200, body: { id: "3" } });
  expect(await get("/users?username=.ada%20b")).toEqual({ id: "3", username: bedrock.name });
  mojang.status = 429;
  expect(await get("/users/1")).toEqual(player);
  expect(await get("/users/2")).toBe(429);
  mojang.status = 500;
  expect(await get("/users?username=notch")).toBe(503);
  mojang.status = 200;

  const begun = await link(notch);
  expect(begun).toMatchObject({
    status: 200,
    body: { id: "1", code: expect.stringMatching(/^\w{4}-\w{4}$/) },
  });
  const { page, browser } = await signIn(new URL(begun.body.url ?? "").search);
  expect(page.text).toContain(notch.name);
  expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(200);
  await role();
});
