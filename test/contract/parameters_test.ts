/** Parsing of parameters in query strings and bodies, and refusals of invalid ones. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import type { Answer, RequestOptions } from "../support/http.ts";
import {
  expectData,
  expectInvalid,
  expectMissing,
  expectRefusal,
  expectV1Refusal,
  useContractServer,
} from "./contract_server.ts";

const { fixtures, send } = useContractServer();
const links = { 100001: "1", 100002: "2" };
const key = fixtures.key({ links });
const ofGuild = fixtures.key({ guildId: guild, links });
const json = { "content-type": "application/json" };

const reason: unknown = expect.any(String);
const expectInvalidBody = (answer: Answer, status = 400) =>
  expectRefusal(answer, status, "INVALID_BODY", { reason });

const lookUp = (query: string) => send(`GET /v2/chat?${query}`, { key });

test.each(["", "chatId=", "chatId", "chatid=100001", "chatId[]=100001", "&&&"])(
  "a query is refused without its ID: ?%s",
  async (query) => expectMissing(await lookUp(query), "chatId"),
);

test.each<readonly [string, string]>([
  ...["1234", "1".repeat(33), "1000o1", "100001%0A", "%D9%A1%D9%A2%D9%A3%D9%A4%D9%A5"].map(
    (id) => ["chatId", `chatId=${id}`] as const,
  ),
  ...["TRUE", "1", "true%20"].map((value) => ["resolved", `chatId=100001&resolved=${value}`] as const),
  // Repeated parameters are invalid as well.
  ["chatId", "chatId=100001&chatId=100001"],
  ["chatId", "chatId=100001&chatId=100002"],
  ["guildId", `chatId=100001&guildId=${guild}&guildId=${guild}`],
  ["resolved", "chatId=100001&resolved=false&resolved=false"],
  ["chatId", "chatId=100001&chat%49d=100001"],
])("a query is refused for its %s: ?%s", async (name, query) => expectInvalid(await lookUp(query), name));

test.each([
  ...["0", "007", "9".repeat(32)].map((id) => `GET /v2/game?gameId=${id}` as const),
  ...["12345", "9".repeat(32)].map((id) => `GET /v2/chat?chatId=${id}` as const),
])("an ID is accepted: %s", async (line) => {
  expectRefusal(await send(line, { key }), 404, "LINK_NOT_FOUND", null);
});

test.each(["resolved=false", "resolved=", "guildId=", "other=1&other=2", "__proto__=1", "chat%49d="])(
  "a query may contain %s",
  async (more) => {
    const answer = await lookUp(
      more.startsWith("chat") ? `${more}%31%30%30%30%30%31` : `chatId=100001&${more}`,
    );
    expectData(answer, { chatId: "100001", gameId: "1", resolved: { game: null, chat: null } });
  },
);

test("all missing parameters are named in documented order", async () => {
  expectMissing(await send("GET /v2/chat?guildId=", { key: ofGuild }), "chatId", "guildId");
  expectV1Refusal(
    await send("PUT /api/v1/link/update-game", { key: ofGuild }),
    400,
    "Missing required parameters: chatId, newGameId, guildId",
  );
});

test("all invalid parameters are named in documented order", async () => {
  const answer = await lookUp("resolved=1&guildId=x&chatId=y");
  expectInvalid(answer, "chatId", "guildId", "resolved");
  expect(answer.body.error?.message).toBe(
    "Invalid parameter: chatId (expected 5 to 32 digits), guildId (expected 5 to 32 digits), resolved (expected true or false)",
  );
  expectV1Refusal(
    await send("PUT /api/v1/link/update-game?guildId=x&newGameId=y&chatId=z", { key }),
    400,
    "Invalid parameter: chatId, newGameId, guildId",
  );
});

test.each(["GET /v2/chat?chatId=100001&%zz", "GET /v2/chat?chatId=%C3%28", "GET /v2/chat%2"] as const)(
  "broken percent-encoding in a query or path is refused: %s",
  async (line) => expectRefusal(await send(line, { key }), 400, "BAD_REQUEST", null),
);

test("routes with a body ignore the query", async () => {
  expectMissing(await send("DELETE /v2/game?chatId=100001", { key, body: {} }), "chatId");
});

const patch = (body: RequestOptions["body"]) =>
  send("PATCH /v2/game", { key, headers: json, ...(body === undefined ? {} : { body }) });
const bulk = (body: object) => send("POST /v2/chat/bulk", { key, body });

test.each(["", "{", "null", "[]", '[{"chatId":"100001"}]', "{}{}"])(
  "a body that is no JSON object is refused: %j",
  async (body) => expectInvalidBody(await patch(body)),
);

test.each(['{"chatId":null,"gameId":null}', '{"chatId":"","gameId":""}', '{"toString":1}'])(
  "a body is refused without its values: %s",
  async (body) => expectMissing(await patch(body), "chatId", "gameId"),
);

test("a body that repeats a parameter is refused", async () => {
  expectInvalid(await patch('{"chatId":"100001","gameId":"1","chatId":"100001"}'), "chatId");
});

test.each([100_001, 1.5, true, false, {}, ["100001"], []])("an ID must be a string: %j", async (id) => {
  expectInvalid(await patch({ chatId: id, gameId: id, guildId: id }), "chatId", "gameId", "guildId");
});

test.each(["true", "false", 1, 0, {}, []])("a boolean in a body is refused: %j", async (resolved) => {
  expectInvalid(await bulk({ chatIds: ["100001"], resolved }), "resolved");
});

test.each([{ resolved: null }, { guildId: null, resolved: "" }, { other: [], another: {} }])(
  "a body may contain %j",
  async (more) => {
    const { data } = (await bulk({ chatIds: ["100001"], ...more })).body;
    expect(data).toMatchObject({ foundCount: 1, resolved: false });
  },
);

test.each(["100001", 100_001, true, {}, { 0: "100001", length: 1 }])("a list is refused: %j", async (ids) => {
  expectInvalid(await bulk({ chatIds: ids }), "chatIds");
});

test.each([[[1]], [["100001", null]], [[["100001"]]], [["100001", {}]]])(
  "a body with a list item that is no string is refused as invalid: %j",
  async (chatIds) => expectInvalidBody(await bulk({ chatIds })),
);

test.each([undefined, null, false, "true", 1, "", {}])(
  "nothing is deleted with confirm: %j",
  async (confirm) => {
    expectInvalidBody(await send("DELETE /v2/data", { key, body: { confirm } }));
    expect((await send("GET /v2/chat?chatId=100001", { key })).status).toBe(200);
  },
);

const creation = { clientId: "client", redirect: "https://elsewhere.example/" };
const pair = { chatId: "100001", otherChatId: "100001" };
const twoWords = { "idempotency-key": "two words" };
const premium = fixtures.key({ tier: "premium" });

test("one error names malformed and conflicting parameters, in documented order", async () => {
  const ask = { key: premium, headers: twoWords };
  expectInvalid(
    await send("POST /v2/sessions", { ...ask, body: { ...creation, chatId: "x" } }),
    "chatId",
    "redirect",
    "Idempotency-Key",
  );
  expectInvalid(
    await send("PUT /v2/alts/reviews", { ...ask, body: { ...pair, verdict: "maybe" } }),
    "otherChatId",
    "verdict",
    "Idempotency-Key",
  );
  expectInvalid(
    await send("DELETE /v2/alts/reviews", { ...ask, body: pair }),
    "otherChatId",
    "Idempotency-Key",
  );
  expectInvalid(
    await send("GET /v2/sessions/none?wait=26", { key, headers: { "service-version": "2" } }),
    "wait",
    "Service-Version",
  );
  expectInvalid(await send("GET /v2/events?limit=0&wait=26", { key }), "limit", "wait");
  expectV1Refusal(
    await send("POST /api/v1/verify/session", { key, body: { ...creation, chatId: "x" } }),
    400,
    "Invalid parameter: chatId, redirect",
  );
});

test("missing parameters are reported before parameters that conflict with each other", async () => {
  const { clientId: _, ...incomplete } = creation;
  expectMissing(await send("POST /v2/sessions", { key, body: incomplete }), "clientId");
  expectMissing(await send("PUT /v2/alts/reviews", { key: premium, body: pair }), "verdict");
});

const bulkBytes = (body: string | Uint8Array, headers: Readonly<Record<string, string>>) =>
  send("POST /v2/chat/bulk", { key, body, headers });
const small = '{"chatIds":["100001"]}';
const ofSize = (bytes: number) => small.replace("}", `,"pad":"${"x".repeat(bytes - small.length - 9)}"}`);

test.each(["application/json", "application/json; charset=utf-8", "Application/JSON ;charset=UTF-8"])(
  "a body may have type %s",
  async (type) => {
    expect((await bulkBytes(small, { "content-type": type })).status).toBe(200);
  },
);

test.each(["text/plain", "application/jsonp", "application/merge-patch+json"])(
  "a body has type %s",
  async (type) => {
    expectInvalidBody(await bulkBytes(small, { "content-type": type }), 415);
  },
);

test.each(["gzip", "br", "deflate"])("a body is not decompressed from %s", async (coding) => {
  const headers = { "content-type": "application/json", "content-encoding": coding };
  expectInvalidBody(await bulkBytes(gzipSync(" ".repeat(1_000_000) + small), headers), 415);
});

test("a body may have at most 65,536 bytes", async () => {
  expect(Buffer.byteLength(ofSize(65_536))).toBe(65_536);
  expect((await bulkBytes(ofSize(65_536), json)).status).toBe(200);
  expectInvalidBody(await bulkBytes(ofSize(65_537), json), 413);
  expectInvalidBody(await bulkBytes(ofSize(65_000).replaceAll("xx", "ä1"), json), 413);
});

test("a chunked body may have at most 65,536 bytes", async () => {
  const chunked = { ...json, "transfer-encoding": "chunked", "content-length": [] };
  const send_ = (body: string) => send("POST /v2/chat/bulk", { key, body, headers: chunked });
  expect((await send_(ofSize(65_536))).status).toBe(200);
  expectInvalidBody(await send_(ofSize(200_000)), 413);
});

test("a refused body does not disturb the next request of the connection", async () => {
  expectInvalidBody(await bulkBytes(ofSize(500_000), json), 413);
  expect((await bulkBytes(small, json)).status).toBe(200);
});

const withVersion = (version: string) =>
  send("GET /v2/chat?chatId=100001", { key, headers: { "service-version": version } });

test("Service-Version may be 2026-01-01 or empty", async () => {
  expect((await withVersion("2026-01-01")).status).toBe(200);
  expect((await withVersion("")).status).toBe(200);
});

test.each(["2026-01-02", "2025-12-31", "1", "latest", "2026-01-01, 2026-01-01"])(
  "Service-Version must not be %s",
  async (version) => {
    const answer = await withVersion(version);
    expectInvalid(answer, "Service-Version");
    expect(answer.body.error?.details?.parameters).toEqual([
      { name: "Service-Version", reason: expect.stringContaining("2026-01-01") },
    ]);
  },
);

test("v1 ignores Service-Version", async () => {
  const answer = await send("GET /api/v1/public/chat-to-game?chatId=100001", {
    key,
    headers: { "service-version": "1999-01-01" },
  });
  expect(answer.status).toBe(200);
});
