/** Runs the client of `clients/luau`, and the example game that uses it, in a Luau interpreter. */
import { readFileSync } from "node:fs";
import { runUntil, startHttpServer } from "@accountlink/test-servers";
import { afterAll, expect, onTestFinished, test as testOneByOne } from "vitest";
import { useFlowServer } from "../contract/flow_server.ts";
import { blocksOf, readDocument } from "../docs/document.ts";
import { eventually } from "../support/eventually.ts";
import { guild } from "../support/fixtures.ts";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { type Case, cases, type Said, startCases } from "./cases.ts";
import { playExperience } from "./program.ts";
import type { Experience } from "./roblox.ts";

const { fixtures, url, newBrowser, newKey, send } = useFlowServer({ ACCOUNTLINK_SESSION_TTL: "8 seconds" });
// Tests run concurrently, because scripts wait for sessions and limits. A service of a test alone ends with it.
const test = testOneByOne.concurrent;
const sourceOf = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const callScript = sourceOf("roblox_calls.luau");
const links = { 100001: "1", 100002: "1", 100006: "2" };
const key = fixtures.key({ links });
const reading = fixtures.key({ links, access: "read" });
const playing = fixtures.key({ access: "game" });
const keeping = fixtures.key({ access: "game", links: { 100003: "5" } });
const slow = fixtures.key({ limits: { perWindow: 2, windowMs: 1_000, daily: 100 } });
const guildKey = fixtures.key({ guildId: guild, links: { 100001: "1" } });

interface Call {
  readonly method: "link" | "links" | "verify" | "unlink";
  readonly players: ReadonlyArray<number>;
  readonly options?: Readonly<Record<string, unknown>>;
}

const played: Array<ReturnType<typeof playExperience>> = [];
afterAll(() => Promise.all(played.map(({ stop }) => stop())));

/** Starts a script in a Roblox experience that has an API key as its secret. */
const play = (experience: Partial<Experience>, secret = key) => {
  const secrets = { accountlink_key: secret };
  const running = playExperience({ script: callScript, secrets, ...experience });
  played.push(running);
  return running;
};

/**
 * Starts a script that makes these calls of the Luau client. `said` waits for the script to end and returns the
 * results.
 */
const playCalls = async (calls: ReadonlyArray<Call>, experience: Partial<Experience> = {}, secret = key) => {
  const input = calls.map(({ options, ...call }) => ({
    ...call,
    options: { url: url(), secret: "accountlink_key", ...options },
  }));
  const game = play({ ...experience, input }, secret);
  return {
    ...game,
    /** The session code that the player sees. */
    code: () => game.untilPrinted(/^show (\S+) \S+\/go$/m),
    said: async () => {
      expect(await game.ended).toBe(0);
      const lines = game.output().split("\n");
      const said = lines
        .filter((line) => line.startsWith("said "))
        .map((line) => JSON.parse(line.slice(5)) as { said: unknown; seconds: number });
      return { said, lines };
    },
  };
};

/** Types a code, signs in at the chat platform, and presses a button of the page. */
const walk = async (code: string, action: "confirm" | "keep" | "cancel") => {
  const browser = newBrowser();
  const entered = locationOf(await browser.post("/go", { code }));
  const proven = await browser.prove("chat", "100003", new URL(entered, url()).search);
  const form = formOf(await browser.get(locationOf(proven)));
  const pressed =
    action === "keep"
      ? browser.post("/verify/confirm", { ...form, keep: "1" })
      : browser.post(`/verify/${action}`, form);
  expect((await pressed).status).toBe(200);
};

testOneByOne("the module returns the expected results of the shared cases", async () => {
  const { expectSaid, urlOf } = await startCases();
  const methods: Readonly<Record<string, Call["method"]>> = {
    "links.byGame": "link",
    "links.byGameMany": "links",
  };
  const own = cases.filter(({ call }) => call in methods);
  const input = own.map((each) => ({
    method: methods[each.call] as Call["method"],
    players: Object.values(each.input).flat().map(Number),
    options: { url: urlOf(each), ...each.options },
  }));
  const { said } = await (await playCalls(input)).said();
  expect(said).toHaveLength(own.length);
  for (const [index, each] of own.entries()) expectSaid(each, inCase(each, said[index]));
});

/** Converts a result of the Luau client to the form of the results in `clients/cases.json`. */
const inCase = (each: Case, heard: { said: unknown; seconds: number } | undefined): Said => {
  const { said, seconds = 0 } = heard ?? {};
  if (each.call === "links.byGameMany") {
    const [first, second] = said as [{ value: unknown }, { ok: boolean; value?: unknown }];
    expect(second).toEqual({ ok: true });
    const { value } = each.says as { value: { results: ReadonlyArray<object> } };
    const results = [{ ...value.results[0], data: first.value }, value.results[1]];
    return { says: { value: { results } }, seconds };
  }
  const { ok, value = null, ...failure } = said as { ok: boolean; value?: unknown };
  return { says: ok ? { value } : { status: null, details: null, retryAfter: null, ...failure }, seconds };
};

test.each([
  [
    3,
    "confirm",
    { ok: true, value: { state: "completed", gameId: "3", chatId: "100003", proof: "session" } },
    playing,
  ],
  [4, "keep", { ok: false, code: "OTHER_ACCOUNT" }, keeping],
  [6, "cancel", { ok: false, code: "SESSION_CANCELLED" }, playing],
] as const)("player %i, for whom %s is pressed", async (player, action, expected, ofGame) => {
  const { code, said } = await playCalls([{ method: "verify", players: [player] }], {}, ofGame);
  await walk(await code(), action);
  expect((await said()).said).toMatchObject([{ said: expected }]);
});

test("verify reports an expired session", async () => {
  const { said } = await playCalls([{ method: "verify", players: [7] }]);
  expect((await said()).said).toMatchObject([{ said: { ok: false, code: "SESSION_EXPIRED" } }]);
});

test("verify cancels the session when the player leaves", async () => {
  const { code, said } = await playCalls([{ method: "verify", players: [8] }], { leaves: 1 });
  const shown = await code();
  const { said: results, lines } = await said();
  expect(results).toMatchObject([{ said: { ok: false, code: "PLAYER_LEFT" } }]);
  expect(lines.findLast((line) => line.startsWith("request"))).toMatch(/^request DELETE/);
  expect((await send(`GET /go?code=${shown}`, { from: fixtures.address() })).status).toBe(404);
});

testOneByOne("verify of a player who left says what became of the session", async () => {
  const refused = (status: number, code: string, reason: string) => ({
    status,
    body: { error: { code, message: "No", details: { reason } } },
  });
  const cancelled = [
    refused(409, "CONFLICT", "session_completed"),
    refused(409, "CONFLICT", "session_failed"),
    refused(403, "FORBIDDEN", "key_access"),
  ];
  const session = (state: string) => ({
    body: { data: { sid: "1", state, gameId: "8", code: "-", codeUrl: "-" } },
  });
  const { url: service } = await runUntil(onTestFinished)(
    startHttpServer(({ method, path }) => {
      if (method === "DELETE") return cancelled[Number(path[1])] ?? "cut";
      return session(method === "POST" ? "pending" : "completed");
    }),
  );
  const calls = cancelled.map((_, index): Call => {
    return { method: "verify", players: [8], options: { url: `${service}/${index}` } };
  });
  const { said } = await (await playCalls(calls, { leaves: 1 })).said();
  expect(said).toMatchObject([
    { said: { ok: true, value: { state: "completed", gameId: "8" } } },
    { said: { ok: false, code: "PLAYER_LEFT" } },
    { said: { ok: false, code: "FORBIDDEN" } },
  ]);
});

test("the module looks up more players than one request takes, and removes links", async () => {
  const players = Array.from({ length: 51 }, (_, index) => index + 1);
  const { said, lines } = await (
    await playCalls([
      { method: "links", players },
      { method: "unlink", players: [1] },
      { method: "link", players: [1] },
    ])
  ).said();
  const [found, removed, after] = said.map((each) => each.said);
  expect(found).toHaveLength(51);
  expect((found as ReadonlyArray<unknown>).slice(0, 2)).toMatchObject([
    { ok: true, value: { chatIds: ["100001", "100002"] } },
    { ok: true },
  ]);
  expect(removed).toEqual({ ok: true, value: ["100001", "100002"] });
  expect(after).toEqual({ ok: true });
  expect(lines.filter((line) => line.startsWith("request POST"))).toHaveLength(2);
});

const link: Call = { method: "link", players: [1] };
const elsewhere: Call = { ...link, options: { guild: "700000000000000002" } };
const unlink: Call = { ...link, method: "unlink" };
test.each<[string, Call, Partial<Experience>, () => string, string, RegExp]>([
  ["that HTTP requests are off", link, { http: false }, () => key, "HTTP_DISABLED", /Allow HTTP Requests/],
  ["that there is no secret", link, { secrets: {} }, () => key, "SECRET_MISSING", /"accountlink_key"/],
  ["that the secret is no key", link, {}, () => "alk_wrong", "INVALID_API_KEY", /"accountlink_key"/],
  ["a missing guild", link, {}, () => guildKey, "MISSING_PARAMETER", /AccountLink.new as "guild"/],
  ["another guild", elsewhere, {}, () => guildKey, "FORBIDDEN", /another guild/],
  ["a key without the access", unlink, {}, () => reading, "FORBIDDEN", /unlink needs full/],
])("the module reports %s in the result and the output", async (_, call, experience, secret, code, words) => {
  const { said, lines } = await (await playCalls([call], experience, secret())).said();
  expect(said).toMatchObject([{ said: { ok: false, code, message: expect.stringMatching(words) } }]);
  expect(lines.find((line) => line.startsWith("warn accountlink: "))).toMatch(words);
});

test("the module refuses invalid options", async () => {
  const wrong = [{ url: "links.example" }, { secret: key }, { guild: Number(guild) }, { guildId: guild }];
  const { said } = await (await playCalls(wrong.map((options) => ({ ...link, options })))).said();
  const raised = said.map((each) => (each.said as { raised: string }).raised);
  expect(raised).toEqual([
    expect.stringContaining('"url" has to begin with https://'),
    expect.stringContaining("not the key"),
    expect.stringContaining("has to be in quotes"),
    expect.stringContaining('"guildId" is unknown, expected url,'),
  ]);
  expect(raised.join("")).not.toContain(key);
});

test("the module paces requests by the key's limit, so that none is refused", async () => {
  const script = `
      local client = AccountLink.new({ url = "${url()}", secret = "accountlink_key", retryFor = 0 })
      for id = 1, 5 do
        print("ok", client:link(join(id)).ok)
      end`;
  const game = play({ script }, slow);
  expect(await game.ended).toBe(0);
  expect(game.output().match(/^ok true$/gm)).toHaveLength(5);
  expect(game.output()).toMatch(/^pause 0\.\d+$/m);
});

test("the module paces requests by HttpService, which allows 500 a minute", async () => {
  const script = `
      local client = AccountLink.new({ url = "${url()}", secret = "accountlink_key", requestsPerMinute = 3 })
      for id = 1, 4 do
        client:link(join(id))
      end
      print("minute", os.clock() >= 60)`;
  const game = play({ script, clock: "fast" });
  expect(await game.ended).toBe(0);
  expect(game.output()).toMatch(/^minute true$/m);
});

test("the script of docs/client.md prints its documented output", async () => {
  const block = blocksOf(readDocument("docs/client.md")).find(({ language }) => language === "luau");
  const script = `${block?.text.replace("https://links.example", url())}\njoin(2)\njoin(5)`;
  const game = play({ script });
  expect(await game.ended).toBe(0);
  const [, documented = ""] = /-- (.*)$/m.exec(script) ?? [];
  expect(game.output()).toContain(`${documented.replace("ada_plays is 100001", "Player2 is 100006")}\n`);
  expect(game.output()).toContain("Player5 is not linked\n");
});

test("the example game rewards a player once for a link", async () => {
  const script = `${sourceOf("../../examples/roblox_game.luau").replace("https://links.example", url())}\njoin(9)\njoin(9)`;
  const game = play({ script }, newKey());
  const code = await game.untilPrinted(/^For 100 coins, type (\S+) at \S+\/go$/m);
  await walk(code, "confirm");
  await eventually(() => expect(game.output()).toMatch(/^9 gets 100 coins$[^]*^9 is linked$/m));
});
