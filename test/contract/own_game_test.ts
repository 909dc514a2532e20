/** The server with a game of one's own over HTTP in place of Roblox. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { languageTags } from "@accountlink/pages/languages";
import { gameToken, player, startGame } from "@accountlink/platforms/test_game";
import { Effect, Exit, Scope, Struct } from "effect";
import { afterAll, expect, test } from "vitest";
import { chatKey, command, press } from "../support/chat.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, locationOf, openBrowser } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import { ada, bob, guildId, startLivePlatforms } from "../support/live_platforms.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { expectInvalid } from "./contract_server.ts";

const lifetime = Scope.makeUnsafe();
const connected = (type: string, id: string) => ({ id, name: "ada", type, verified: true, revoked: false });
const platforms = await startLivePlatforms({
  [ada.id]: [connected("roblox", "1"), connected("steam", player.id)],
});
const servers: Array<RunningServer> = [];
afterAll(async () => {
  await Promise.all(servers.map(({ stop }) => stop()));
  await platforms.stop();
  await Effect.runPromise(Scope.close(lifetime, Exit.void));
});

const moderatorRole = "41771983423143936";

/** Starts a server whose game is called "Voxel", with a community that links there. */
const startWith = async (instead?: Parameters<typeof startGame>[0], changed: Record<string, string> = {}) => {
  const fixtures = makeFixtures();
  fixtures.account({ name: "club", chatId: ada.id });
  const key = fixtures.key({
    account: "club",
    guildId,
    tier: "premium",
    access: "manage",
    links: { [ada.id]: player.id },
  });
  const rules = [{ roleId: moderatorRole, when: { is: "linked" } }] as const;
  fixtures.plan({ account: "club", guildId, rules, state: "on" });
  const game = await Effect.runPromise(Scope.provide(startGame(instead), lifetime));
  const server = await startServerHere({
    fixture: fixtures.fixture,
    env: {
      // The discovery of an issuer is tested beside the adapter.
      ...Struct.omit(platforms.env, ["ACCOUNTLINK_GAME_CLIENT_ID", "ACCOUNTLINK_GAME_CLIENT_SECRET"]),
      ACCOUNTLINK_PUBLIC_URL: "https://links.example",
      ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey,
      ACCOUNTLINK_CONTACT: "help@links.example",
      ACCOUNTLINK_GAME_URL: game.url,
      ACCOUNTLINK_GAME_TOKEN: gameToken,
      ACCOUNTLINK_GAME_NAME: "Voxel",
      ...changed,
    },
  });
  servers.push(server);
  const putRules = (when: object, changes: object = {}) =>
    server.send("PUT /dashboard/api/roles", {
      key,
      body: { guildId, rules: [{ roleId: moderatorRole, when }], nickname: null, state: "on", ...changes },
    });
  const newBrowser = () => openBrowser(() => server.url, fixtures.address());
  /** Opens what Discord leads to after a sign-in. */
  const signIn = async (browser: FlowBrowser, start: string, chatId: string) => {
    const { pathname, search } = new URL(platforms.signIn(locationOf(await browser.get(start)), chatId));
    return browser.get(pathname + search);
  };
  const newSession = async () => {
    const body = { clientId: "client", guildId };
    const created = await server.send("POST /v2/sessions", { key, body });
    return `?sid=${textOf(created.body.data?.sid)}`;
  };
  return { ...server, key, putRules, newBrowser, signIn, newSession };
};

const steam = { ACCOUNTLINK_GAME_CONNECTION: "steam" };
const voxel = await startWith(undefined, steam);
const { send, key, putRules, newBrowser, signIn, newSession } = voxel;

test("a lookup has the profile that the game tells", async () => {
  const { body } = await send(`GET /v2/chat?chatId=${ada.id}&guildId=${guildId}&resolved=true`, { key });
  expect(body.data).toMatchObject({
    gameId: player.id,
    resolved: { game: { id: player.id, username: "Ada_G", created: "2012-03-19T05:54:55.000Z" } },
  });
});

test("only users that the game knows are linked and named in sessions", async () => {
  const body = { chatId: ada.id, guildId, gameId: "404" };
  expectInvalid(await send("PATCH /v2/game", { key, body }), "gameId");
  const session = (gameId: string) =>
    send("POST /v2/sessions", { key, body: { clientId: "voxel", guildId, gameId } });
  expectInvalid(await session("404"), "gameId");
  expect((await session(player.id)).status).toBe(201);
});

test("a rule may ask for the game's own kinds of items, and for no others", async () => {
  const owner = (item: string) => ({ is: "owner", item, itemId: "55" });
  const refused = 'rules: the game platform has no items "gamepass", expected one of app';
  expectInvalid(await putRules(owner("gamepass")), refused);
  expect(await putRules(owner("app"))).toMatchObject({
    status: 200,
    body: { data: { plan: { rules: [{ when: owner("app") }] } } },
  });
});

/** A game with the first route alone. */
const withoutFeatures: NonNullable<Parameters<typeof startGame>[0]> = ({ path }) =>
  path === "/links/" ? { status: 404 } : undefined;

/** Signs a member without a connection in, and returns the page before and the page after. */
const pagesOf = async ({ newBrowser: open, newSession: begin, signIn: prove }: typeof voxel, lang = "en") => {
  const browser = open();
  const session = await begin();
  const path = `/verify${session}&lang=${lang}`;
  const before = await browser.get(path);
  await prove(browser, `/verify/chat/start${session}`, bob.id);
  return { before, after: await browser.get(path), session, browser };
};

const verifyIn = (server: typeof voxel, chatId = bob.id) =>
  command(server.send, { chatId, guildId, permissions: "8" }, "verify");

const needsConnection = "that you have connected on Discord";
const nobody = "Nobody can show here yet which account on Voxel is theirs.";

test("who has no connection, where it is the only way, reads how to get one, and tries again", async () => {
  const server = await startWith(withoutFeatures, steam);
  const { before, after, session } = await pagesOf(server);
  expect(before.text).toContain("You connected it on Discord");
  expect(before.text).toContain(needsConnection);
  expect(after.text).toContain("Discord does not name a connected account of yours on Voxel.");
  expect(after.text).toContain(needsConnection);
  expect(after.text).toContain(`href="/verify/chat/start${session}">Try again`);
  const answer = (await verifyIn(server)).text;
  expect(answer).toContain(needsConnection);
  expect(answer).toContain("/verify?pid=");
});

test("where no way is possible, the log at the start, the pages and the answer in chat say so", async () => {
  const server = await startWith(withoutFeatures);
  const { before, after } = await pagesOf(server);
  for (const { text } of [before, after]) {
    expect(text).toContain(nobody);
    expect(text).toContain('href="/go"');
  }
  expect(after.text).toMatch(/href="\/verify\?sid=[^"]+">Try again/);
  const answer = (await verifyIn(server)).text;
  expect(answer).toContain(nobody);
  expect(answer).not.toContain("/verify?pid=");
  expect(server.output()).toMatch(
    /No user can prove a game account on the pages: connection needs ACCOUNTLINK_GAME_CONNECTION; /,
  );
});

test("while the game is down at the start, members without another way are asked for patience", async () => {
  const server = await startWith(({ path }) => (path === "/links/" ? { status: 503 } : undefined));
  const { before, after } = await pagesOf(server);
  for (const { text } of [before, after]) expect(text).toContain("Voxel does not respond right now.");
  expect(after.text).toMatch(/href="\/verify\?sid=[^"]+">Try again/);
  expect((await verifyIn(server)).text).toContain("/verify?pid=");
  expect(await server.send("GET /verify/game/words")).toMatchObject({ status: 404 });
  const asOwner = { key: server.key };
  const browser = server.newBrowser();
  await server.signIn(browser, "/dashboard/sign-in", ada.id);
  const [scope] = listOf((await browser.get("/dashboard/api/scopes")).body.data?.scopes);
  const young = { ...asOwner, body: { minGameAgeDays: 30 } };
  for (const { status } of [
    await server.putRules({ is: "age", minDays: 30 }),
    await server.send("GET /dashboard/api/roles/ranks?groupId=7", asOwner),
    await server.send(`PATCH /dashboard/api/scopes/${textOf(scope?.["pid"])}`, young),
  ]) {
    expect(status).toBe(503);
  }
});

test("the pages of who has no way are in every language", async () => {
  const folder = new URL("../../packages/pages/languages/", import.meta.url);
  for (const [env, keys] of [
    [steam, ["flow.none.connection", "flow.connect"]],
    [{}, ["flow.none"]],
  ] as const) {
    const server = await startWith(withoutFeatures, env);
    const browser = server.newBrowser();
    const session = await server.newSession();
    await server.signIn(browser, `/verify/chat/start${session}`, bob.id);
    for (const lang of languageTags) {
      const messages = JSON.parse(readFileSync(new URL(`${lang}.json`, folder), "utf8")) as Record<
        (typeof keys)[number],
        string
      >;
      const { text } = await browser.get(`/verify${session}&lang=${lang}`);
      for (const message of keys) {
        const said = messages[message].replaceAll("{gameName}", "Voxel").replaceAll("{chatName}", "Discord");
        expect([lang, message, text.includes(said)]).toEqual([lang, message, true]);
      }
    }
  }
});

test("a user name is what the game says it is, in any letter case and Unicode form", async () => {
  const name = "Björn 勇者 a-b.c";
  const server = await startWith(({ path, query }) => {
    if (path !== "/links/users") return undefined;
    const isAsked = query.get("username")?.toLowerCase() === name.toLowerCase();
    return isAsked ? { body: { ...player, username: name } } : { status: 404 };
  });
  const { browser, after } = await pagesOf(server);
  expect(after.text).toContain('name="username"');
  for (const typed of ["bjo\u0308rn 勇者 A-B.C", ` @${name} `]) {
    const named = await browser.post("/verify/game/words", { ...formOf(after), username: typed });
    expect([typed, named.status]).toEqual([typed, 200]);
  }
});

/** What names Roblox or a thing of Roblox, or a service for it. */
const ofRoblox = /roblox|robux|account info|game ?pass|bloxlink|\brover\b|rowifi/giu;
/** The word is a class of the style sheet, and the name of a list that profiles have. */
const badges = /\bbadges?\b/giu;

const wordsOf = (markup: string) =>
  markup.replace(/<style>.*?<\/style>/gs, "").replace(/<(?![^>]*aria-label)[^>]*>/g, " ");

test("no page, message or document names Roblox or a thing of it", async () => {
  const faults: Array<string> = [];
  const read: Array<string> = [];
  const check = (name: string, text: string, isContract = false) => {
    read.push(name);
    const found = [
      ...(text.match(ofRoblox) ?? []),
      ...(isContract ? [] : (wordsOf(text).match(badges) ?? [])),
    ];
    faults.push(...found.map((word) => `${name}: ${word}`));
  };

  const browser = newBrowser();
  const crawl = async (...starts: ReadonlyArray<string>) => {
    const queue = [...starts];
    const seen = new Set<string>();
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      const { pathname, searchParams } = new URL(path, voxel.url);
      // A page in another language, of a later day or of another row has the same texts.
      const page = [pathname.replaceAll(/\d{5,}/g, "1"), ...new Set(searchParams.keys())].join(" ");
      if (searchParams.has("lang") || seen.has(page) || /\/sign-(in|out)$/.test(pathname)) continue;
      seen.add(page);
      const { status, headers, text } = await browser.get(path);
      if (headers.location !== undefined) queue.push(headers.location);
      expect([path, status < 500]).toEqual([path, true]);
      // The style sheet says nothing to anybody.
      if (!pathname.endsWith(".css")) check(path, text, ["/docs", "/openapi.json"].includes(pathname));
      if (!headers["content-type"]?.startsWith("text/html")) continue;
      for (const [, href = ""] of text.matchAll(/(?:href|src)="(\/[^"#]*)/g)) {
        queue.push(href.replaceAll("&amp;", "&"));
      }
    }
  };
  await crawl("/", "/go", "/verify", "/guide", "/docs", "/openapi.json", "/me", "/nowhere");
  expect((await signIn(browser, "/dashboard/sign-in", ada.id)).status).toBe(303);
  expect((await signIn(browser, "/me/sign-in", ada.id)).status).toBe(303);
  await crawl("/dashboard", "/me");
  expect(read).toEqual(expect.arrayContaining(["/dashboard/imports", "/dashboard/links"]));
  expect(read.filter((path) => path.endsWith("/roles"))).not.toEqual([]);

  const member = newBrowser();
  const flow = async (name: string, path: string, form?: Readonly<Record<string, string>>) => {
    const answer = await (form === undefined ? member.get(path) : member.post(path, form));
    check(name, answer.text);
    return answer;
  };
  const session = await newSession();
  await flow("begin", `/verify${session}`);
  await signIn(member, `/verify/chat/start${session}`, bob.id);
  const { text } = await flow("ways", `/verify${session}`);
  expect(text).toContain("Voxel");
  const asked = await flow("words", `/verify/game/words${session}`);
  await flow("nobody", "/verify/game/words", { ...formOf(asked), username: "Nobody" });
  const named = await flow("named", "/verify/game/words", { ...formOf(asked), username: player.username });
  await flow("words are missing", "/verify/game/words/check", formOf(named));

  const say = async (name: string, chatId: string, options: object = {}) => {
    const answer = await command(send, { chatId, guildId, permissions: "8" }, name, options);
    expect([name, answer.status]).toEqual([name, 200]);
    check(`/${name}`, answer.text);
    return answer;
  };
  for (const name of ["verify", "help", "panel", "unlink"]) {
    await say(name, ada.id);
    await say(name, bob.id);
  }
  const who = await say("whois", ada.id, { user: ada.id });
  expect(who.text).toContain(player.profileUrl);
  await say("whois", ada.id, { user: bob.id });
  expect((await say("whois", ada.id, { game: "Nobody" })).text).toContain(
    "There is no user Nobody on Voxel.",
  );
  await say("update", ada.id, { user: ada.id });
  check("the button roles", (await press(send, { chatId: ada.id, guildId }, "roles")).text);
  expect(faults).toEqual([]);
});

test("languages, routes and pages have no text that names Roblox", () => {
  const cwd = fileURLToPath(new URL("../../packages/", import.meta.url));
  const others = /node_modules|\/dist\/|\/compat\/|_test\.ts$|languages\/context|package\.json$/;
  const files = globSync(["{pages,http,http-api}/**/*.ts", "pages/**/*.json"], { cwd }).filter(
    (file) => !others.test(file),
  );
  expect(files.length).toBeGreaterThan(200);
  const isComment = /^\s*(?:\/\/|\/?\*)/;
  const lines = files.flatMap((file) =>
    readFileSync(cwd + file, "utf8")
      .split("\n")
      .filter((line) => /roblox/i.test(line.replaceAll(/isRoblox/gi, "")) && !isComment.test(line))
      .map((line) => `${file}: ${line}`),
  );
  expect(lines).toEqual([]);
});

test("the connections of the named kind at the chat platform prove accounts of the game", async () => {
  const session = await newSession();
  const member = newBrowser();
  await signIn(member, `/verify/chat/start${session}`, ada.id);
  const page = await member.get(`/verify${session}`);
  expect(page.text).toContain(`@${player.username}`);
  expect((await member.post("/verify/confirm", formOf(page))).status).toBe(200);
  const { body } = await send(`GET /v2/sessions/${session.slice("?sid=".length)}`, { key });
  expect(body.data).toMatchObject({ gameId: player.id, proof: "connection" });
});

test("the routes that are compatible with services for Roblox are none", async () => {
  const answer = await send("GET /compat/rover/api/guilds/1/discord-to-roblox/2", { key });
  expect(answer.status).toBe(404);
  const { paths } = (await send("GET /openapi.json")).body;
  expect(Object.keys(paths ?? {}).filter((path) => path.includes("compat"))).toEqual([]);
});

test("who asks a game without names for one reads that it finds nobody by it, and finds an account by its ID", async () => {
  const bare = await startWith(withoutFeatures);
  const ask = async (game: string) =>
    (await command(bare.send, { chatId: ada.id, guildId, permissions: "8" }, "whois", { game })).text;
  expect(await ask("Nobody")).toContain("Voxel finds nobody by name. Type the ID in place of Nobody.");
  expect(await ask(player.id)).toContain(`is linked to: <@${ada.id}>`);
});

test("what the game does not have is not offered, and is refused with the reason", async () => {
  const bare = await startWith(withoutFeatures);
  const noGroups = "the game platform tells no groups";
  const noAges = "the game platform does not tell how old accounts are";
  const group = { is: "group", groupId: "7", minRank: null, maxRank: null };
  for (const [when, reason] of [
    [group, noGroups],
    [{ is: "all", of: [{ is: "linked" }, group] }, noGroups],
    [{ is: "age", minDays: 30 }, noAges],
    [{ is: "owner", item: "app", itemId: "55" }, "the game platform tells no items"],
  ] as const) {
    expectInvalid(await bare.putRules(when), `rules: ${reason}`);
  }
  const nickname = { nickname: "{group.role}", nicknameGroupId: "7" };
  expectInvalid(await bare.putRules({ is: "linked" }, nickname), `nicknameGroupId: ${noGroups}`);
  const ranks = await bare.send("GET /dashboard/api/roles/ranks?groupId=7", { key: bare.key });
  expectInvalid(ranks, `groupId: ${noGroups}`);

  const browser = bare.newBrowser();
  await bare.signIn(browser, "/dashboard/sign-in", ada.id);
  const [scope] = listOf((await browser.get("/dashboard/api/scopes")).body.data?.scopes);
  const pid = textOf(scope?.["pid"]);
  const young = { key: bare.key, body: { minGameAgeDays: 30 } };
  expectInvalid(await bare.send(`PATCH /dashboard/api/scopes/${pid}`, young), `minGameAgeDays: ${noAges}`);
  const community = await browser.get(`/dashboard/communities/${pid}`);
  expect(community.text.match(/name="min\w+AgeDays"/g)).toEqual(['name="minChatAgeDays"']);
  const roles = await browser.get(`/dashboard/communities/${pid}/roles`);
  expect(roles.text).toContain('value="linked"');
  expect(
    roles.text.match(/(?:value|name)="(?:group|age|owner|gamepass|nicknameGroupId|ranksOf)\b/g),
  ).toBeNull();

  const session = await bare.newSession();
  const member = bare.newBrowser();
  await bare.signIn(member, `/verify/chat/start${session}`, bob.id);
  expect((await member.get(`/verify${session}`)).text).not.toContain("/verify/game/");
  for (const way of ["words", "start"]) {
    expect([way, (await member.get(`/verify/game/${way}${session}`)).status]).toEqual([way, 404]);
  }
});
