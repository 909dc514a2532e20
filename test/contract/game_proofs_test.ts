/** The ways to prove a game account, other than the sign-in at the game platform. */
import { runInProcess } from "@accountlink/server/test_command_line";
import { expect, test } from "vitest";
import { chatUsers } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, locationOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";

/** What some chat users have connected. */
const connections: Readonly<Record<string, ReadonlyArray<object>>> = {
  "100011": [{ gameId: "1", verified: true }],
  "100012": [
    { gameId: "2", verified: true },
    { gameId: "3", verified: true },
    { gameId: "4", verified: false },
  ],
  "100013": [{ gameId: "5", verified: false }],
  "100015": [
    { gameId: "2", verified: true },
    { gameId: "404404404", verified: true },
  ],
};

// Without accounts that other tests have proven in other communities.
const server = useFlowServer({ ACCOUNTLINK_KNOWN_FOR: "0 seconds" }, () => ({
  platform: {
    chatUsers: chatUsers.map((user) => ({ ...user, connections: connections[user.id] ?? [] })),
  },
}));
const { setup, read, gameOf, platform, send } = server;

/** Signs in to the chat platform, and returns the next page. */
const enter = async (browser: FlowBrowser, query: string, chatId: string): Promise<Answer> =>
  browser.get(locationOf(await browser.prove("chat", chatId, query)));

const started = async (chatId: string, asked?: object) => {
  const flow = await setup(asked);
  const authorizeUrl = await flow.browser.leave("chat", flow.bySid);
  const page = await flow.browser.get(
    locationOf(await flow.browser.get(await flow.browser.signIn(authorizeUrl, chatId))),
  );
  return { ...flow, page, authorizeUrl };
};

const confirm = (browser: FlowBrowser, page: Answer) => browser.post("/verify/confirm", formOf(page));

test("a user with a connected account can use another account", async () => {
  const { browser, key, sid, page: offered, authorizeUrl } = await started("100011");
  expect(new URL(authorizeUrl).searchParams.get("scope")).toBe("identify connections");
  expectPage(offered, 200, "Is this right?");
  for (const way of ["start", "words"]) expect(offered.text).toContain(`href="/verify/game/${way}?`);
  const page = await browser.get(locationOf(await browser.prove("game", "2")));
  expectPage(page, 200, "Is this right?", "Player 2");
  // The connected account can be chosen again.
  expect(page.text).toContain('name="gameId" value="1"');
  await confirm(browser, page);
  expect(await read(key, sid)).toMatchObject({ gameId: "2", proof: "oauth" });
});

test.each(["4", "1", "", "x"])(
  "an account that the chat platform did not name is refused: %j",
  async (gameId) => {
    const { browser, page, key } = await started("100012");
    const refused = await browser.post("/verify/game/connection", { ...formOf(page), gameId });
    expectPage(refused, 400, "Something is missing");
    expect(await gameOf(key, "100012")).toBeNull();
  },
);

test("the choice of a connected account needs the page's token, and a proven chat account", async () => {
  const { browser, page } = await started("100012");
  const form = { ...formOf(page), gameId: "2" };
  const forged = await browser.post("/verify/game/connection", { ...form, csrf: "x" });
  expectPage(forged, 403, "This form cannot be used");
  const stranger = await server.newBrowser().post("/verify/game/connection", form);
  expectPage(stranger, 400, "This page is out of date");
  const { browser: before, bySid } = await setup();
  await before.leave("chat", bySid);
  const unproven = formOf(await before.get(`/verify${bySid}`));
  const early = await before.post("/verify/game/connection", { ...unproven, gameId: "2" });
  expectPage(early, 400, "Something is missing");
});

test("verified connections are offered, and of choices at the same time, one holds", async () => {
  const { browser, key, sid, page } = await started("100012");
  const offered = [...page.text.matchAll(/name="gameId" value="(\d+)"/g)].map(([, id]) => id);
  expect(offered).toEqual(["2", "3"]);
  const form = formOf(page);
  const gameIds = ["3", "2", "3", "2"];
  const choices = await Promise.all(
    gameIds.map((gameId) => browser.post("/verify/game/connection", { ...form, gameId })),
  );
  const [won, ...others] = choices.toSorted((one, other) => one.status - other.status);
  expect([won?.status, others.map(({ status }) => status)]).toEqual([303, [400, 400, 400]]);
  // Other answers may have come later than the winner's cookie, but they set none.
  const whole = await browser.get(locationOf(won as Answer));
  expectPage(whole, 200, "Is this right?");
  await confirm(browser, whole);
  const gameId = gameIds[choices.indexOf(won as Answer)];
  expect(await read(key, sid)).toMatchObject({ state: "completed", gameId, proof: "connection" });
});

test("a connected account that is gone is not offered", async () => {
  const { page } = await started("100015");
  expectPage(page, 200, "Is this right?", "Player 2");
});

test.each([
  ["nothing is connected", "100014", {}, false],
  ["no connection is verified", "100013", {}, false],
  ["the user refuses the scope", "100011", { refuse: "connections" }, false],
  ["the chat platform does not tell the connections", "100011", {}, true],
] as const)("the other ways are offered if %s", async (_, chatId, refusal, isDown) => {
  const { browser, bySid } = await setup();
  const approved = await browser.post(await browser.leave("chat", bySid), { user: chatId, ...refusal });
  if (isDown) {
    await platform.fail({ mode: "down", platform: "chat", under: "/chat/api/users/@me/connections" });
  }
  const back = await browser.get(locationOf(approved));
  await platform.recover();
  const page = await browser.get(locationOf(back));
  expectPage(page, 200, "Link your accounts");
  for (const way of ["start", "words"]) expect(page.text).toContain(`href="/verify/game/${way}?`);
  expect(page.text).toMatch(/If you may sign in to other sites .*If you may not sign in to other sites/s);
  expect(page.text).not.toContain('name="gameId"');
});

test("another chat account has its own connections", async () => {
  const { browser, bySid, page } = await started("100012");
  const form = formOf(page);
  const next = await enter(browser, bySid, "100014");
  expect(next.text).not.toContain('name="gameId"');
  const stale = await browser.post("/verify/game/connection", { ...form, gameId: "2" });
  expectPage(stale, 403, "This form cannot be used");
  const chosen = await browser.post("/verify/game/connection", { ...formOf(next), gameId: "2" });
  expectPage(chosen, 400, "Something is missing");
});

/** Signs in as a chat user without connections, and opens the page of the way `words`. */
const wordsPage = async (asked: object = {}) => {
  const flow = await started("100020", asked);
  const page = await flow.browser.get(`/verify/game/words${flow.bySid}`);
  return { ...flow, page };
};

const nameAccount = (browser: FlowBrowser, page: Answer, username: string) =>
  browser.post("/verify/game/words", { ...formOf(page), username });

const check = (browser: FlowBrowser, page: Answer) => browser.post("/verify/game/words/check", formOf(page));

const wordsOn = ({ text }: Answer) => /id="words"[^>]*>([^<]*)</.exec(text)?.[1] ?? "";

/** Changes a description on the page of the game user. */
const describe = async (browser: FlowBrowser, authorizeUrl: string, gameId: string, description: string) => {
  const { origin } = new URL(authorizeUrl);
  const changed = await browser.post(`${origin}/game/users/${gameId}`, { description });
  expect(changed.status).toBe(303);
};

test("a user proves an account by words in its description", async () => {
  const { browser, key, sid, page, authorizeUrl } = await wordsPage();
  expect(page.status).toBe(200);
  expect(page.text).toContain('name="username"');
  expect(page.headers["content-security-policy"]).toContain("script-src 'self'");

  const unknown = await nameAccount(browser, page, "nobody_<here>");
  expect(unknown.status).toBe(404);
  expect(unknown.text).toContain('value="nobody_&lt;here&gt;"');

  const named = await nameAccount(browser, unknown, " Player_6 ");
  expect(named.status).toBe(200);
  expect(named.text).toContain("Player 6");
  const words = wordsOn(named);
  expect(words).toMatch(/^[a-z]+( [a-z]+){5}$/);
  expect(wordsOn(await nameAccount(browser, named, "player_6"))).toBe(words);
  expect(wordsOn(await browser.get("/verify/game/words"))).toBe(words);

  const early = await check(browser, named);
  expect([early.status, wordsOn(early)]).toEqual([409, words]);
  const shuffled = words.split(" ").toReversed().join(" ");
  await describe(browser, authorizeUrl, "6", shuffled);
  expect((await check(browser, early)).status).toBe(409);
  expect(await gameOf(key, "100020")).toBeNull();

  const written = words.toUpperCase().split(" ").join(",\r\n");
  await describe(browser, authorizeUrl, "6", `I like games. ${written}! See you.`);
  const found = await check(browser, early);
  expect(found.status).toBe(303);
  const whole = await browser.get(locationOf(found));
  expectPage(whole, 200, "Is this right?", "You can remove the words now.");
  expect(whole.text).toMatch(/href="\/verify\/game\/words\?[^"]*">Use another account/);
  await confirm(browser, whole);
  expect(await read(key, sid)).toMatchObject({
    state: "completed",
    chatId: "100020",
    gameId: "6",
    proof: "words",
  });
});

test("a trace of any request tells each step of its verification, and what was wrong", async () => {
  const { browser, page } = await wordsPage();
  const unknown = await nameAccount(browser, page, "nobody");
  const named = await nameAccount(browser, unknown, "player_9");
  const { headers } = await check(browser, named);
  const trace = async (id: string, ...words: ReadonlyArray<string>) => {
    const { stdout, stderr } = await runInProcess(
      ["trace", id, ...words],
      {},
      `some text\n${server.output()}`,
    );
    return words.includes("--json")
      ? (JSON.parse(stdout) as { lines: ReadonlyArray<Line> }).lines
      : stdout + stderr;
  };
  const lines = (await trace(textOf(headers["x-request-id"]), "--json")) as ReadonlyArray<Line>;
  expect(
    lines.flatMap(({ message, annotations: { step, outcome } }) =>
      message.startsWith("Flow") ? [`${step} ${outcome}`] : message === "Request answered" ? [] : [message],
    ),
  ).toEqual([
    "Session created",
    "chat_started ok",
    "chat_proven ok",
    "game_named unknown_name",
    "game_named ok",
    "game_proven not_there",
  ]);
  const creation = lines[0]?.annotations["requestId"] ?? "";
  expect(await trace(creation, "--json")).toEqual(lines);
  expect(await trace(creation)).toContain('"outcome":"not_there"');
  expect(await trace("req_of_nobody")).toContain('Cannot trace "req_of_nobody": no line of the log has it');
});

interface Line {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

test("words are another for each account and for each flow, and of no use in another flow", async () => {
  const { browser, page, authorizeUrl } = await wordsPage();
  const one = await nameAccount(browser, page, "player_1");
  expect(one.text).toContain('src="https://game.example/h.png"');
  expect(one.headers["content-security-policy"]).toContain("img-src data: https://game.example;");
  // The page says what the words link to what.
  expect(one.text).toContain("User 20");
  const [six, seven] = [
    await nameAccount(browser, page, "player_6"),
    await nameAccount(browser, page, "player_7"),
  ];
  expect(wordsOn(six)).not.toBe(wordsOn(seven));
  expect(wordsOn(await nameAccount(browser, page, "player_6"))).toBe(wordsOn(six));
  await describe(browser, authorizeUrl, "6", wordsOn(six));

  const unsigned = await setup({});
  const early = await browser.get(`/verify/game/words${unsigned.bySid}`);
  expect(early.status).toBe(400);

  const other = await wordsPage();
  const named = await nameAccount(other.browser, other.page, "player_6");
  expect(wordsOn(named)).not.toBe(wordsOn(six));
  expect((await check(other.browser, named)).status).toBe(409);
});

test("words stay the same when the user signs in to the chat platform again", async () => {
  const { browser, page, bySid } = await wordsPage();
  const words = wordsOn(await nameAccount(browser, page, "player_8"));
  await enter(browser, bySid, "100020");
  expect(wordsOn(await browser.get(`/verify/game/words${bySid}`))).toBe(words);
});

test("a description counts as it is, and not as it was read before", async () => {
  const { browser, page, authorizeUrl } = await wordsPage();
  const named = await nameAccount(browser, page, "player_7");
  await describe(browser, authorizeUrl, "7", wordsOn(named));
  await describe(browser, authorizeUrl, "7", "changed my mind");
  expect((await check(browser, named)).status).toBe(409);
  await describe(browser, authorizeUrl, "7", "a".repeat(1_000));
  const tooLong = { description: "a".repeat(1_001) };
  expect((await browser.post(new URL("/game/users/7", authorizeUrl).href, tooLong)).status).toBe(400);
});

test("checks at the same time prove an account once", async () => {
  const { browser, key, sid, page, authorizeUrl } = await wordsPage();
  const named = await nameAccount(browser, page, "player_9");
  await describe(browser, authorizeUrl, "9", wordsOn(named));
  const checks = await Promise.all(Array.from({ length: 4 }, () => check(browser, named)));
  const won = checks.filter(({ status }) => status === 303);
  expect([won.length, checks.length]).toEqual([1, 4]);
  const whole = await browser.get(locationOf(won[0] as Answer));
  await confirm(browser, whole);
  expect(await read(key, sid)).toMatchObject({ state: "completed", gameId: "9" });
  // The page of an ended verification leads nowhere.
  expectPage(await check(browser, named), 409, "You are already done");
});

test("words need a proven chat account, the page's token and a named account", async () => {
  const { browser, bySid } = await setup();
  expectPage(await browser.get("/verify/game/words"), 400, "This page is out of date");
  expectPage(await browser.get(`/verify/game/words${bySid}`), 400, "Something is missing");
  const { browser: signedIn, page } = await wordsPage();
  expectPage(await check(signedIn, page), 400, "Something is missing");
  for (const path of ["/verify/game/words", "/verify/game/words/check"]) {
    const forged = await signedIn.post(path, { ...formOf(page), csrf: "x", username: "player_6" });
    expectPage(forged, 403, "This form cannot be used");
    expectPage(await server.newBrowser().post(path, formOf(page)), 400, "This page is out of date");
  }
});

test("an outage of the game platform keeps the words", async () => {
  const { browser, page, bySid } = await wordsPage();
  await platform.fail({ mode: "down", platform: "game" });
  expectPage(await nameAccount(browser, page, "player_6"), 503, "No answer from the game platform");
  await platform.recover();
  const named = await nameAccount(browser, page, "player_6");
  await platform.fail({ mode: "down", platform: "game" });
  const down = await check(browser, named);
  await platform.recover();
  expectPage(down, 503, "No answer from the game platform");
  expect(wordsOn(await browser.get(`/verify/game/words${bySid}`))).toBe(wordsOn(named));
});

test("a flow looks up ten names, and looks for its words thirty times", async () => {
  const { browser, page, bySid } = await wordsPage();
  const named = await nameAccount(browser, page, "player_6");
  for (let names = 2; names <= 10; names++) {
    expect((await nameAccount(browser, page, `nobody_${names}`)).status).toBe(404);
  }
  expectPage(await nameAccount(browser, page, "player_6"), 429, "Too many tries");
  for (let checks = 1; checks <= 30; checks++) expect((await check(browser, named)).status).toBe(409);
  expectPage(await check(browser, named), 429, "Too many tries");
  // A new sign-in to the chat platform begins no new flow.
  const next = await enter(browser, bySid, "100020");
  expectPage(await nameAccount(browser, next, "player_6"), 429, "Too many tries");
});

test("a session that is over ends the ways", async () => {
  const { browser, page, bySid } = await wordsPage();
  const named = await nameAccount(browser, page, "player_6");
  await browser.post("/verify/cancel", formOf(named));
  expectPage(await check(browser, named), 409, "Nothing was linked");
  expectPage(await browser.get(`/verify/game/words${bySid}`), 409, "This verification was cancelled");
});

test("the script of the page of words is served without a script in the page", async () => {
  const { page } = await wordsPage();
  expect(page.text).not.toMatch(/<script(?![^>]*src=)/);
  const path = /<script type="module" src="([^"]+)"/.exec(page.text)?.[1];
  const { status, headers } = await send(`GET ${textOf(path)}`);
  expect([status, headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
});
