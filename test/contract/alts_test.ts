/** Alt detection over HTTP: responses, scores and reviews. `packages/core` tests the rules. */

import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { emptyGuild, guild, type KeyOptions, type SeenAt, stranger } from "../support/fixtures.ts";
import { type Answer } from "../support/http.ts";
import { expectData, expectRefusal, useContractServer } from "./contract_server.ts";

const [home, vpn] = ["203.0.113.7", "198.51.100.7"] as const;
const [target, one, two, three] = ["100001", "100002", "100003", "100004"] as const;
const now = Date.now();
const daysAgo = (days: number) => new Date(now - days * 86_400_000).toISOString();

/**
 * Makes a sighting of each chat user at the IP address. Each sighting is one millisecond older than the previous one.
 */
const seen = (ip: string, chatIds: ReadonlyArray<string>, days = 0): ReadonlyArray<SeenAt> =>
  chatIds.map((chatId, index) => ({
    chatId,
    ip,
    seenAt: new Date(Date.parse(daysAgo(days)) - index).toISOString(),
  }));

const { fixtures, send, platform } = useContractServer();
Object.assign(fixtures.fixture, { vpnCidrs: ["198.51.100.0/24"] });

const premiumKey = (options: KeyOptions) => fixtures.key({ tier: "premium", ...options });

interface Explained {
  readonly matches: ReadonlyArray<{ readonly evidence: ReadonlyArray<{ readonly kind: string }> }>;
  readonly risk: { readonly alt: number };
}

const explained = ({ body }: Answer) => body.data as unknown as Explained;

const ipv6 = "2001:db8:1:2::1";
const scored = premiumKey({
  links: { [one]: { gameId: "1", at: daysAgo(2) }, [target]: { gameId: "1", at: daysAgo(1) } },
  sightings: [
    ...[home, ipv6, vpn].map((ip) => ({ chatId: target, ip, device: "phone", seenAt: daysAgo(0) })),
    { chatId: one, ip: home, device: "phone", seenAt: daysAgo(45) },
    { chatId: two, ip: "2001:db8:1:2:3::4", seenAt: daysAgo(45) },
  ],
});

test.each([`chatId=${target}`, "gameId=1", `chatId=${target}&ip=${encodeURIComponent(`::ffff:${home}`)}`])(
  "an alt lookup explains the score of %s, scores the same in v1 and shows no address",
  async (query) => {
    const answer = await send(`GET /v2/alts?${query}&explain=true`, { key: scored });
    const risk = { score: 81, severity: "CRITICAL", alt: 97, vpn: 33, unlistedWeight: 0 };
    expect(explained(answer).risk).toEqual(risk);
    const v1 = await send(`GET /api/v1/public/detections/alt?${query}`, { key: scored });
    expect(v1.body.data).toMatchObject({
      alts: [{ chatId: one }, { chatId: two }],
      risk: { score: 81, label: "critical", breakdown: { overall: 81, alt: 97, vpn: 33 } },
      summary: { totalAlts: 2 },
    });
    const text = answer.text + v1.text;
    expect([home, vpn, "2001:db8:1:2"].filter((address) => text.includes(address))).toEqual([]);
  },
);

const at = daysAgo(3);
const links = {
  [target]: "1",
  [one]: { gameId: "1", at },
  [two]: { gameId: "2", at },
  [stranger]: { gameId: "3", at },
};
const sightings = seen(home, [target, two, three, stranger]);
const key = premiumKey({ links, sightings });
const inGuild = premiumKey({ links, sightings, guildId: guild });

test.each(["x", "203.0.113.999", " 203.0.113.7", "203.0.113.7\n", "203.0.113.0/24"])(
  "%j is no address",
  async (ip) => {
    const question = `ip=${encodeURIComponent(ip)}`;
    const reason = "expected an IPv4 or IPv6 address";
    expectRefusal(await send(`GET /v2/alts?${question}`, { key }), 400, "INVALID_PARAMETER", {
      parameters: [{ name: "ip", reason }],
    });
    const v1 = await send(`GET /api/v1/public/detections/alt?${question}`, { key });
    expect(v1.body).toMatchObject({ status: 400, error: "Invalid parameter: ip" });
  },
);

test("an alt lookup returns exactly the target, the matches and their game users", async () => {
  expectData(await send(`GET /v2/alts?chatId=${target}`, { key }), {
    target: { chatId: target, gameId: "1", guildId: null },
    matches: [
      { chatId: two, gameId: "2" },
      { chatId: three, gameId: null },
      { chatId: stranger, gameId: "3" },
      { chatId: one, gameId: "1" },
    ],
    risk: { score: 90, severity: "CRITICAL" },
    summary: { matchCount: 4 },
    resolved: false,
  });
  const { body } = await send(`GET /api/v1/public/detections/alt?gameId=1`, { key });
  expect(body.data).toMatchObject({
    target: { chatIds: [one, target], gameIds: ["1"], guildId: null },
    summary: { gameAltIds: expect.arrayContaining(["1", "2", "3"]) as unknown },
  });
  expect(body.data).not.toHaveProperty("warnings");
});

test("an alt lookup in a guild returns only guild members as matches, even if the target is no member", async () => {
  const expected = [
    { chatId: two, gameId: "2" },
    { chatId: three, gameId: null },
    { chatId: one, gameId: "1" },
  ];
  for (const each of [key, inGuild]) {
    const { body } = await send(`GET /v2/alts?chatId=${target}&guildId=${guild}`, { key: each });
    expect(body.data).toMatchObject({ target: { guildId: guild }, matches: expected });
  }
  const { body } = await send(`GET /v2/alts?chatId=${stranger}&guildId=${guild}`, { key });
  expect(body.data).toMatchObject({ target: { chatId: stranger }, summary: { matchCount: 3 } });
  const empty = await send(`GET /v2/alts?chatId=${target}&guildId=${emptyGuild}`, { key });
  expect(empty.body.data).toMatchObject({ matches: [], risk: { score: 0 } });
});

test("an alt lookup includes profiles for resolved=true", async () => {
  const { body } = await send(`GET /v2/alts?chatId=${target}&guildId=${guild}&resolved=true`, { key });
  expect(body.data).toMatchObject({
    resolved: true,
    matches: [
      { chatId: two, resolved: { game: { id: "2" }, chat: { id: two, guild: { nickname: "Nick" } } } },
      { chatId: three, resolved: { game: null, chat: { id: three } } },
      { chatId: one, resolved: { game: { id: "1" }, chat: { id: one } } },
    ],
  });
});

test("bulk alt lookups return one result per game ID, in order", async () => {
  const answer = await send("POST /v2/alts/bulk", { key, body: { gameIds: ["2", "9", "x"] } });
  expect(answer.body.data).toMatchObject({
    foundCount: 2,
    errorCount: 1,
    results: [
      { input: { gameId: "2" }, found: true, data: { target: { chatId: two, gameId: "2" } } },
      { found: true, data: { target: { chatId: null, gameId: "9" }, matches: [] } },
      { found: false, error: { code: "INVALID_PARAMETER", status: 400 } },
    ],
  });
  expect(answer.body.meta).toMatchObject({ bulk: { uniqueInputs: 3, maxInputs: 10 } });
});

const known = {
  links: { [target]: "1", [one]: "1", [three]: "3" },
  sightings: seen(home, [target, one, two], 45),
};
const account = "reviewers";
const [reviewer, sibling] = [premiumKey({ ...known, account }), premiumKey({ account })];
const guildKey = premiumKey({ ...known, account, guildId: guild });
const foreign = premiumKey(known);

const put = (verdict: string, chatId: string, otherChatId: string, note?: string) =>
  send("PUT /v2/alts/reviews", { key: reviewer, body: { chatId, otherChatId, verdict, note } });
const remove = (chatId: string, otherChatId: string) =>
  send("DELETE /v2/alts/reviews", { key: reviewer, body: { chatId, otherChatId } });
const list = (chatId: string, as = reviewer, query = "") =>
  send(`GET /v2/alts/reviews?chatId=${chatId}${query}`, { key: as });
const detect = async (as = reviewer, query = "") =>
  explained(await send(`GET /v2/alts?chatId=${target}&explain=true${query}`, { key: as }));
const outlined = ({ matches, risk }: Explained) => [
  risk.alt,
  ...matches.map((match) => match.evidence.map(({ kind }) => kind).join("+")),
];

test("an alt review overrides the score for all keys of its scope and no others, until it is deleted", async () => {
  const before = [92, "game+address", "address"];
  expect(outlined(await detect())).toEqual(before);

  expect((await put("different", one, target, "Brothers")).body.data).toMatchObject({
    review: { chatId: one, otherChatId: target, verdict: "different", note: "Brothers" },
  });
  const { matches } = await detect(sibling);
  expect(matches).toMatchObject([{ chatId: two, evidence: [{ chatUsers: 3 }] }]);
  expect(outlined(await detect(foreign))).toEqual(before);
  expect(outlined(await detect(guildKey, `&guildId=${guild}`))).toEqual(before);

  await put("same", target, two);
  expect(outlined(await detect())).toEqual([100, "review+address"]);
  await put("same", target, three);
  expect(outlined(await detect())).toEqual([100, "review", "review+address"]);

  expect((await list(target, sibling)).body.data?.reviews).toMatchObject([
    { chatId: target, otherChatId: three, verdict: "same", note: null, keyId: reviewer.slice(4, 16) },
    { chatId: target, otherChatId: two, verdict: "same" },
    { chatId: target, otherChatId: one, verdict: "different", note: "Brothers" },
  ]);
  expectData(await list(target, foreign), { reviews: [] });
  expectData(await list(target, guildKey, `&guildId=${guild}`), { reviews: [] });

  expectData(await remove(three, target), { chatId: three, otherChatId: target, deleted: true });
  expectData(await remove(three, target), { chatId: three, otherChatId: target, deleted: false });
  await remove(target, one);
  await remove(target, two);
  expect(outlined(await detect())).toEqual(before);
});

const candidates = Array.from({ length: 150 }, (_, index) => String(500_001 + index));
const crowded = premiumKey({ links: { [target]: "1" }, sightings: seen(home, [target, ...candidates]) });
const inCrowd = `chatId=${target}&guildId=${guild}`;

test("alt detection while the chat platform is down fails in v2, and omits unknown members in v1", async () => {
  const as = { key: crowded };
  /**
   * Sends a request while the platform cannot return members. Looks up a user first, so that the guild is cached: after
   * requests for members have failed, the service also stops requests for guilds.
   */
  const sendDuringFault = async (line: Parameters<typeof send>[0], body?: object) => {
    await eventually(async () => expect((await send(`GET /v2/chat?${inCrowd}`, as)).status).toBe(200));
    await platform.fail({ mode: "down", platform: "chat", under: "/chat/api/guilds/:guildId/members" });
    const answer = await send(line, { ...as, ...(body && { body }) });
    await platform.recover();
    return answer;
  };
  expectRefusal(await sendDuringFault(`GET /v2/alts?${inCrowd}`), 503, "INTERNAL_ERROR", null);
  const v1 = await sendDuringFault(`GET /api/v1/public/detections/alt?${inCrowd}`);
  expect(v1.body.data).toMatchObject({
    alts: [],
    warnings: [expect.stringContaining("150 of the candidates")],
  });
  const bulk = await sendDuringFault("POST /v2/alts/bulk", { gameIds: ["1"], guildId: guild });
  expect(bulk.body.data).toMatchObject({
    errorCount: 1,
    results: [{ error: { code: "INTERNAL_ERROR", status: 503 } }],
  });
});

const crowdIds = Array.from({ length: 101 }, (_, index) => String(300_001 + index));
const bounded = premiumKey({
  links: Object.fromEntries(crowdIds.map((id, index) => [id, { gameId: "9", at: daysAgo(index) }])),
  sightings: [
    ...Array.from({ length: 100 }, (_, index) => seen(`203.0.113.${100 + index}`, [target])).flat(),
    ...seen("203.0.113.99", [target, two], 1),
    ...seen("203.0.113.100", [three]),
  ],
});

test("seeds and places are the newest 100 of each", async () => {
  const game = await send("GET /api/v1/public/detections/alt?gameId=9", { key: bounded });
  const { target: named } = game.body.data as unknown as { target: { chatIds: ReadonlyArray<string> } };
  expect(named.chatIds).toEqual(crowdIds.slice(0, 100));
  const user = await send(`GET /v2/alts?chatId=${target}`, { key: bounded });
  expect(user.body.data).toMatchObject({ matches: [{ chatId: three }], summary: { matchCount: 1 } });
});
