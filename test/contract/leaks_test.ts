/** Code hosts report leaked keys in a JSON array, and the service answers with a JSON array. */
import { describe, expect, test } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { expectRefusal, useContractServer } from "./contract_server.ts";

const { fixtures, send } = useContractServer({ ACCOUNTLINK_IP_AUTH_FAILURES: "30" });
const lookup = "GET /v2/chat?chatId=100001";
const links = { 100001: "1" };
const [first, second, third, expired, revoked] = [
  fixtures.key({ links }),
  fixtures.key({ links }),
  fixtures.key({ links }),
  fixtures.key({ expiresAt: "2026-01-01T00:00:00.000Z" }),
  fixtures.key({ status: "revoked" }),
];
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

const report = (tokens: ReadonlyArray<string>, from: string = fixtures.address()) =>
  send("POST /v2/keys/leaked", { from, body: tokens.map(reportOf) });

describe("an array of leak reports", () => {
  test("an array of leak reports is answered in order, and revokes valid keys", async () => {
    const [unknown, text] = [newToken(), "no key"];
    const { status, headers, body } = await report([unknown, first, text, first, second]);
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
    const { body } = await report([...many, third]);
    expect(body).toEqual([
      ...many.map((token) => labelOf(token, "false_positive")),
      labelOf(third, "true_positive"),
    ]);
    expect((await send(lookup, { key: third, from: fixtures.address() })).status).toBe(401);
    const tooMany = await report([...many, newToken(), newToken()]);
    expectRefusal(tooMany, 400, "BULK_LIMIT_EXCEEDED", { limit: 100, received: 101 });
  });

  const throttled = { bucket: "ip_auth" };

  test("each unknown token in leak reports counts as a failed authentication", async () => {
    const from = fixtures.address();
    const wrong = Array.from({ length: 4 }, newToken);
    for (let sent = 0; sent < 7; sent++) {
      expect((await report([revoked, ...wrong, expired], from)).status).toBe(200);
    }
    for (let sent = 0; sent < 3; sent++) expect((await report([revoked], from)).status).toBe(200);
    // 28 failures are counted so far. The next report adds 4, which exceeds the limit of 30.
    expect((await report(wrong, from)).status).toBe(200);
    expectRefusal(await report([revoked], from), 429, "SHARED_IP_RATE_LIMITED", throttled);
  });
});
