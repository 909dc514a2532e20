/** Which keys are accepted, what they are told of their end and limits, and reports of leaked keys. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { newToken } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { expectData, expectRefusal, useContractServer } from "./contract_server.ts";

const lookup = "GET /v2/chat?chatId=100001";
const links = { 100001: "1" };
const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();

const { fixtures, send } = useContractServer({ ACCOUNTLINK_IP_AUTH_FAILURES: "60" });

const active = fixtures.key({ links });
const refused = {
  "another secret of the same ID": `${active.slice(0, 17)}${newToken().slice(17)}`,
  truncated: active.slice(0, -1),
  "only the public part": active.slice(0, 16),
};

test.each(Object.entries(refused))(
  "a token that is not a key's whole secret is refused: %s",
  async (_title, key) => {
    for (const line of [lookup, "GET /v2/verifications/chat?chatId=100001"] as const) {
      const answer = await send(line, { key });
      expectRefusal(answer, 401, "INVALID_API_KEY", null);
      expect(answer.body.error?.message).not.toContain("alk_");
    }
  },
);

test("a key is only accepted in the authorization header", async () => {
  const answer = await send(`${lookup}&key=${active}&apiKey=${active}`, { headers: { "x-api-key": active } });
  expectRefusal(answer, 401, "INVALID_API_KEY", null);
});

const soon = days(6);
const ending = fixtures.key({ links, expiresAt: soon });
const lasting = fixtures.key({ links, expiresAt: days(8) });
const moment = Date.now() + 2_500;
const fleeting = fixtures.key({ links, expiresAt: new Date(moment).toISOString() });

test("a key announces its expiry in every answer of its last 7 days", async () => {
  for (const line of [lookup, "GET /v2/chat", "GET /api/v1/public/chat-to-game?chatId=100001"] as const) {
    expect((await send(line, { key: ending })).headers["x-key-expires"]).toBe(soon);
    expect((await send(line, { key: lasting })).headers).not.toHaveProperty("x-key-expires");
  }
});

test("a key is refused once it has expired, and not earlier", async () => {
  await eventually(async () => expect((await send(lookup, { key: fleeting })).status).toBe(401), {
    interval: 20,
  });
  expect(Date.now()).toBeGreaterThanOrEqual(moment);
});

const limits = { perWindow: 0, daily: 2 };
const [looking, verifying] = [
  fixtures.key({ access: "read", limits }),
  fixtures.key({ access: "verify", limits }),
];

test.each([
  ["PATCH /v2/game", looking],
  ["DELETE /api/v1/link/delete-game", verifying],
] as const)("a request beyond the key's access counts against the limits: %s", async (line, key) => {
  for (const left of ["1", "0"]) {
    const answer = await send(line, { key });
    expect([answer.status, answer.headers["x-ratelimit-remaining-day"]]).toEqual([403, left]);
  }
  expect((await send(line, { key })).status).toBe(429);
});

const report = (key: string) => send("POST /v2/keys/leaked", { body: { key } });
const leaked = fixtures.key({ account: "careless", links });
const other = fixtures.key({ account: "careless" });
const victim = fixtures.key({ links });

test("a report without a key, or with a key of another account, revokes only the reported key, immediately", async () => {
  expect((await send(lookup, { key: leaked })).status).toBe(200);
  const answer = await report(leaked);
  expectData(answer, { revoked: true });
  expect(answer.body.meta).not.toHaveProperty("tier");
  expect((await send(lookup, { key: leaked })).status).toBe(401);
  expect((await send(lookup, { key: other })).status).toBe(200);
  await send("POST /v2/keys/leaked", { key: other, body: { key: victim } });
  expect((await send(lookup, { key: victim })).status).toBe(401);
  expect((await send(lookup, { key: other })).status).toBe(200);
});

test("leak reports of unknown and of revoked keys get the same answer", async () => {
  const known = await report(leaked);
  for (const key of [newToken(), "x", `${leaked.slice(0, 17)}${newToken().slice(17)}`, "alk_🔑"]) {
    const answer = await report(key);
    expectData(answer, { revoked: true });
    expect(Object.keys(answer.headers)).toEqual(Object.keys(known.headers));
    expect(answer.text.length).toBe(known.text.length);
  }
  const { pid } = (await send("DELETE /v2/data", { key: other, body: { confirm: true } })).body.data ?? {};
  expect(textOf(pid)).toMatch(/^pid_/);
});

const [first = "", second = "", third = ""] = [1, 2, 3].map(() => fixtures.key({ links }));
const revoked = fixtures.key({ status: "revoked" });
const expired = fixtures.key({ expiresAt: "2026-01-01T00:00:00.000Z" });
const many = Array.from({ length: 99 }, newToken);

const reportOf = (token: string) => ({
  token,
  type: "accountlink_api_key",
  url: "https://example.com/repository/blob/key.txt",
  source: "content",
});

const labelOf = (token: string, label: "true_positive" | "false_positive") => ({
  token_raw: token,
  token_type: "accountlink_api_key",
  label,
});

const reportAll = (tokens: ReadonlyArray<string>, from: string = fixtures.address()) =>
  send("POST /v2/keys/leaked", { from, body: tokens.map(reportOf) });

test("an array of leak reports is answered in order, and revokes valid keys", async () => {
  const [unknown, text] = [newToken(), "no key"];
  const { status, headers, body } = await reportAll([unknown, first, text, first, second]);
  expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
  expect(body).toEqual([
    labelOf(unknown, "false_positive"),
    labelOf(first, "true_positive"),
    labelOf(text, "false_positive"),
    labelOf(first, "true_positive"),
    labelOf(second, "true_positive"),
  ]);
  for (const key of [first, second])
    expect((await send(lookup, { key, from: fixtures.address() })).status).toBe(401);
  expect((await send(lookup, { key: third, from: fixtures.address() })).status).toBe(200);
});

test("an array of leak reports has at most 100 reports, and the last one is checked too", async () => {
  const { body } = await reportAll([...many, third]);
  expect(body).toEqual([
    ...many.map((token) => labelOf(token, "false_positive")),
    labelOf(third, "true_positive"),
  ]);
  expect((await send(lookup, { key: third, from: fixtures.address() })).status).toBe(401);
  const tooMany = await reportAll([...many, newToken(), newToken()]);
  expectRefusal(tooMany, 400, "BULK_LIMIT_EXCEEDED", { limit: 100, received: 101 });
});

test("each unknown token in leak reports counts as a failed authentication", async () => {
  const from = fixtures.address();
  const wrong = Array.from({ length: 4 }, newToken);
  for (let sent = 0; sent < 14; sent++) {
    expect((await reportAll([revoked, ...wrong, expired], from)).status).toBe(200);
  }
  for (let sent = 0; sent < 3; sent++) expect((await reportAll([revoked], from)).status).toBe(200);
  // 56 failures are counted so far. The next report adds 5, which exceeds the limit of 60.
  expect((await reportAll([...wrong, newToken()], from)).status).toBe(200);
  expectRefusal(await reportAll([revoked], from), 429, "SHARED_IP_RATE_LIMITED", { bucket: "ip_auth" });
});
