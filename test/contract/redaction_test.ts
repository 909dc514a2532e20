/**
 * The server never logs or returns a key or client address, and never logs secrets of a verification. It stores none of
 * them, except the address lists of keys.
 */
import { compatRoutes, routes } from "@accountlink/http-api";
import { isProof } from "@accountlink/test-servers";
import { beforeAll, expect, test } from "vitest";
import { guild, makeFixtures, newToken } from "../support/fixtures.ts";
import { formOf, openBrowser } from "../support/flow_browser.ts";
import { type Answer, type RequestOptions, textOf } from "../support/http.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { whyHidden } from "../support/storage.ts";
import { returnAs, type Site } from "./site_server.ts";

const fixtures = makeFixtures();
const links = { 100001: "1", 100002: "2" };
/** Addresses that the fixture's chat users have in common, so that lookups of alts find matches. */
const sighted = ["192.0.2.201", "2001:db8:20:1"];
const sightings = ["100001", "100002", "100003"].flatMap((chatId) => [
  { chatId, ip: "192.0.2.201", seenAt: new Date().toISOString() },
  { chatId, ip: "2001:db8:20:1::7", seenAt: new Date().toISOString() },
]);
const accepted = [
  fixtures.key({ links }),
  fixtures.key({ links, sightings, tier: "premium" }),
  fixtures.key({ links, guildId: guild }),
  fixtures.key({ links, limits: { perWindow: 0, daily: 3 } }),
];
const refused = [
  fixtures.key({ status: "disabled" }),
  fixtures.key({ status: "revoked" }),
  fixtures.key({ expiresAt: "2020-01-01T00:00:00.000Z" }),
  fixtures.key({ allowIps: ["192.0.2.77"], denyIps: ["2001:db8:77::/48"] }),
  ...Array.from({ length: 3 }, newToken),
];
const leaked = Array.from({ length: 2 }, () => fixtures.key({ links }));
const verifying = fixtures.key({ limits: "none" });
const keys = [...accepted, ...refused, ...leaked];

/**
 * The first halves of IPv6 addresses. They must be kept secret like whole addresses, because the server counts clients
 * by /64, so a first half identifies a client.
 */
const networks = Array.from({ length: 40 }, (_, index) => `2001:db8:${(0xa00 + index).toString(16)}:beef`);
const addresses = Array.from({ length: 120 }, fixtures.address);
const seen = [...addresses, ...networks, ...sighted, "192.0.2.77", "2001:db8:77"];
const froms = [...addresses, ...networks.map((network) => `${network}::1`)];

/**
 * Returns requests about a chat user. Some have the key in the right header, others in a wrong place, such as the path
 * or a parameter.
 */
const uses = (
  key: string,
  chatId: string,
): ReadonlyArray<readonly [`${string} ${string}`, RequestOptions]> => {
  const ids = {
    chatId,
    gameId: "1",
    guildId: guild,
    ip: "192.0.2.201",
    oldChatId: "100001",
    newChatId: chatId,
    newGameId: "1",
  };
  const review = { otherChatId: "100002", verdict: "same" };
  const body = { ...ids, ...review, confirm: true, chatIds: [chatId], gameIds: ["1"] };
  return [
    ...compatRoutes.map(
      ({ path }) => [`GET ${path.replaceAll(/:\w+/g, key)}`, { headers: { authorization: key } }] as const,
    ),
    ...routes
      .filter(({ id }) => id !== "reportLeakedKey")
      .map(({ method, path, source }) =>
        source === "body"
          ? ([`${method} ${path}`, { key, body }] as const)
          : ([`${method} ${path}?${new URLSearchParams(ids).toString()}`, { key }] as const),
      ),
    [`GET /v2/chat?chatId=${key}&guildId=${key}&resolved=${key}`, { key }],
    [`GET /v2/${key}`, {}],
    [`GET /api/v1/${key}?key=%${key}`, { key }],
    [`PATCH /v2/game`, { key, body: `{"chatId":"${key}",`, headers: { "content-type": "application/json" } }],
    [`PATCH /v2/game`, { key, body: { chatId: key, gameId: { [key]: key } } }],
    [
      `GET /v2/chat?chatId=100001`,
      { key, headers: { "service-version": key, "user-agent": key, traceparent: key } },
    ],
    [`GET /v2/chat?chatId=100001`, { headers: { authorization: `Basic ${key}` } }],
    [`GET /v2/verifications/chat?chatId=100001`, { headers: { authorization: key } }],
    [`GET /v2/verifications/chat?pid=pid_1`, {}],
  ];
};

/** Secrets that let others take over a verification or a sign-in: sids, states, codes, cookies and CSRF tokens. */
const verificationSecrets: Array<string> = [];

/** The values of the device cookie of browsers that confirmed a link, and the pages that these browsers were shown. */
const [browserMarks, browserPages]: [Array<string>, Array<string>] = [[], []];

/**
 * Completes one verification, then begins another and leaves it at the chat platform's sign-in page. Signs in to both
 * sites.
 */
const verify = async (key: string) => {
  const browser = openBrowser(() => server.url, fixtures.address());
  const begin = async () => {
    const { body } = await server.send("POST /v2/sessions", { key, body: { clientId: "client" } });
    const sid = textOf(body.data?.sid);
    verificationSecrets.push(sid);
    return sid;
  };
  const leave = async (step: "chat" | "game", query = "") => {
    const authorizeUrl = await browser.leave(step, query);
    verificationSecrets.push(new URL(authorizeUrl).searchParams.get("state") ?? "");
    verificationSecrets.push(...[...browser.cookies.values()].map((cookie) => cookie.slice(0, 43)));
    return authorizeUrl;
  };
  const sid = await begin();
  await browser.get(await browser.signIn(await leave("chat", `?sid=${sid}`), "100001"));
  await browser.get(await browser.signIn(await leave("game"), "1"));
  const page = await browser.get(`/verify?sid=${sid}`);
  await server.send(`GET /v2/sessions/${sid}`, { key });
  const confirmed = await browser.post("/verify/confirm", formOf(page));
  expect(confirmed.status).toBe(200);
  browserMarks.push(browser.cookies.get("accountlink_device") ?? "");
  browserPages.push(confirmed.text, (await browser.get(`/verify?sid=${sid}`)).text);
  await leave("chat", `?sid=${await begin()}`);
  for (const [site, cookie] of Object.entries({ dashboard: "accountlink_session", me: "accountlink_me" })) {
    const callback = await returnAs(browser, "100001", site as Site);
    verificationSecrets.push(
      textOf(new URL(callback).searchParams.get("code")),
      textOf(browser.cookies.get(`accountlink_${site}_sign_in`)),
    );
    expect((await browser.get(callback)).status).toBe(303);
    const { csrf } = formOf(await browser.get(`/${site}`));
    verificationSecrets.push(textOf(browser.cookies.get(cookie)), textOf(csrf));
  }
  browser.close();
};

let server: RunningServer;
const answers: Array<Answer> = [];
const stored: Array<string> = [];

let turn = 0;

/** A key is refused before its route is known, so only the proof sends such keys to every route. */
const isSent = (key: string, index: number): boolean => isProof || !refused.includes(key) || index % 4 === 0;

const useAll = async (used: ReadonlyArray<string>, chatId = "100003") => {
  // Send the requests in groups: if a busy machine sent all at once, connections would time out.
  for (let first = 0; first < used.length; first += accepted.length) {
    const requests = used
      .slice(first, first + accepted.length)
      .flatMap((key) => uses(key, chatId).filter((_, index) => isSent(key, index)))
      .map(([line, options]) => {
        const from = `${froms[turn++ % froms.length]}, 127.0.0.4`;
        return server.send(line, { from, ...options });
      });
    answers.push(...(await Promise.all(requests)));
  }
};

beforeAll(async () => {
  server = await startServerHere({
    fixture: fixtures.fixture,
    usual: "postgres",
    env: {
      ACCOUNTLINK_LOG_LEVEL: "trace",
      ACCOUNTLINK_IP_AUTH_FAILURES: "5",
      ACCOUNTLINK_IP_PER_SECOND: "8",
      ACCOUNTLINK_IP_DAILY: "30",
      ACCOUNTLINK_STREAM_MAX: "1 second",
      // On a busy machine, the default timeout would close connections just before their next request.
      ACCOUNTLINK_IDLE_TIMEOUT: "60 seconds",
    },
  });
  const { platform } = server;
  await verify(verifying);
  await useAll(keys);
  // Use another chat user for each failure: an earlier answer about the user would be cached, and hide the failure.
  for (const [index, mode] of ["down", "cut", "garbage", "limited"].entries()) {
    await platform.fail({ mode, platform: "both" });
    await useAll(accepted.slice(1, 2), String(100_010 + index));
  }
  await platform.recover();
  for (const [index, key] of [...leaked, newToken(), newToken()].entries()) {
    answers.push(await server.send("POST /v2/keys/leaked", { from: froms[index] ?? "", body: { key } }));
  }
  await useAll(leaked);
  answers.push(await server.send("GET /metrics"));
  stored.push(...(await server.storage.contents()));
  await server.stop();
});

const found = (output: string, texts: ReadonlyArray<string>) => texts.filter((text) => output.includes(text));
const secrets = keys.map((key) => key.slice(17));
const answered = () => answers.map(({ text, headers }) => text + JSON.stringify(headers));

test("the recorded answers include successes, redirects and all kinds of refusals", () => {
  const statuses = new Set(answers.map(({ status }) => status));
  expect([200, 302, 400, 401, 403, 404, 429, 503].filter((status) => !statuses.has(status))).toEqual([]);
});

test("the output reports failed requests and steps of verifications, but no key, client address or secret of a verification", () => {
  const output = server.output();
  expect(output).toContain("Request failed");
  expect(output).toMatch(/step"?[=:]\s*"?completed/);
  expect(verificationSecrets.length).toBeGreaterThan(13);
  expect(found(output, [...secrets, ...verificationSecrets])).toEqual([]);
  expect(found(output.toLowerCase(), seen)).toEqual([]);
});

test.skipIf(whyHidden !== null)(
  `the storage contains no key, secret of a verification or client address ${whyHidden ?? ""}`,
  () => {
    expect(stored.length).toBeGreaterThan(0);
    const hidden = [...secrets, ...verificationSecrets, ...addresses, ...networks, ...sighted];
    expect(stored.flatMap((content) => found(content, hidden))).toEqual([]);
  },
);

test("no output, storage, answer or page contains the value of the device cookie", () => {
  expect(browserMarks.filter((mark) => /^[\w-]{43}$/.test(mark))).toHaveLength(1);
  const all = [server.output(), ...stored, ...answered(), ...browserPages].join("\n");
  expect(found(all, browserMarks)).toEqual([]);
});

test("answers contain no key in body or headers, and no client address in the body", () => {
  expect(found(answered().join("\n"), secrets)).toEqual([]);
  expect(found(answers.map(({ text }) => text).join("\n"), seen)).toEqual([]);
});
