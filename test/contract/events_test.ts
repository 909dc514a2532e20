/** The event feed over HTTP: events, pages, filters, waits, streams, and the list of links with its feed cursor. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { type Answer, type Json, listOf, textOf } from "../support/http.ts";
import { openReads } from "../support/open_reads.ts";
import { expectInvalid, expectRefusal, useContractServer } from "./contract_server.ts";

const { fixtures, send, url } = useContractServer(
  { ACCOUNTLINK_SESSION_CREATE_BURST: "0" },
  { usual: "postgres" },
);

const untilWaiting = openReads(send, "event_readers_waiting");

type Query = Readonly<Record<string, string>>;

const read = (key: string, query: Query = {}): Promise<Answer> =>
  send(`GET /v2/events?${new URLSearchParams(query)}`, { key });

const eventsOf = ({ body }: Answer) => listOf(body.data?.["events"]);
const cursorOf = ({ body }: Answer): string => textOf(body.data?.["cursor"]);
const typesOf = (answer: Answer) => eventsOf(answer).map(({ type }) => type);
const now = async (key: string): Promise<string> => cursorOf(await read(key));

const set = (key: string, chatId: string, gameId: string) =>
  send("PATCH /v2/game", { key, body: { chatId, gameId } });

const key = fixtures.key({ links: { 100001: "1" } });

test("the event feed has an event for each change of a link by v2 and v1, but none if a write changes nothing", async () => {
  const cursor = await now(key);
  await set(key, "100001", "2");
  await set(key, "100001", "2");
  await send("PATCH /v2/chat", { key, body: { oldChatId: "100001", newChatId: "100003" } });
  await send("PUT /api/v1/link/update-game?chatId=100003&newGameId=3", { key });
  await send("DELETE /v2/game", { key, body: { chatId: "100003" } });
  const answer = await read(key, { cursor });
  const [first] = eventsOf(answer);
  expect(first).toEqual({
    id: expect.stringMatching(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/) as unknown,
    type: "link.set",
    at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    data: {
      chatId: "100001",
      gameId: "2",
      previousGameId: "1",
      linkVersion: 2,
      lastVerifiedAt: first?.["at"],
      source: "api",
    },
  });
  expect(eventsOf(answer).map(({ type, data }) => ({ type, ...(data as object) }))).toMatchObject([
    { type: "link.set" },
    { type: "link.moved", chatId: "100003", previousChatId: "100001", gameId: "2", linkVersion: 1 },
    { type: "link.set", chatId: "100003", gameId: "3", previousGameId: "2", linkVersion: 2 },
    { type: "link.removed", chatId: "100003", gameId: null, previousGameId: "3", linkVersion: 3 },
  ]);
  expect(answer.body.data?.["more"]).toBe(false);
  expect(eventsOf(await read(key, { cursor }))).toEqual(eventsOf(answer));
  expect(eventsOf(await read(key, { cursor: cursorOf(answer) }))).toEqual([]);
});

test("the event feed has events of sessions, without their sid", async () => {
  const cursor = await now(key);
  const create = (clientId: string, body: object = {}) =>
    send("POST /v2/sessions", { key, body: { clientId, ...body } });
  const { body } = await create("one");
  await send(`DELETE /v2/sessions/${textOf(body.data?.["sid"])}`, { key });
  await set(key, "100005", "1");
  await create("other", { chatId: "100005" });
  await send("DELETE /v2/game", { key, body: { chatId: "100005" } });
  const sessions = await read(key, { cursor, types: "session.cancelled,session.failed" });
  const ended = { chatId: null, gameId: null, linkChanged: false, previousGameId: null, error: null };
  expect(eventsOf(sessions).map(({ type, data }) => [type, data])).toEqual([
    ["session.cancelled", { ...ended, clientId: "one" }],
    ["session.failed", { ...ended, clientId: "other", chatId: "100005", error: "link_removed" }],
  ]);
  expect(sessions.text).not.toContain("vs_");
});

const guildKey = fixtures.key({ guildId: guild });

test("the event feed filters events by type, chat user and game user, and finds a change by its old and new users", async () => {
  const cursor = await now(key);
  await set(key, "100011", "3");
  await set(key, "100011", "4");
  await set(key, "100012", "5");
  await send("PATCH /v2/chat", { key, body: { oldChatId: "100011", newChatId: "100013" } });
  const of = async (query: Query) => typesOf(await read(key, { cursor, ...query }));
  expect(await of({ types: "link.moved" })).toEqual(["link.moved"]);
  expect(await of({ types: "link.moved,link.removed" })).toEqual(["link.moved"]);
  expect(await of({ chatId: "100011" })).toEqual(["link.set", "link.set", "link.moved"]);
  expect(await of({ chatId: "100013" })).toEqual(["link.moved"]);
  expect(await of({ gameId: "3" })).toEqual(["link.set", "link.set"]);
  expect(await of({ gameId: "4", types: "link.set" })).toEqual(["link.set"]);
  expect(await of({ chatId: "100040" })).toEqual([]);
});

test("the event feed refuses cursors of other scopes and malformed parameters", async () => {
  const foreign = await now(guildKey);
  const links = await send("GET /v2/links?limit=1", { key });
  const wrong = ["x", foreign, `${await now(key)}x`, "e1.AAAAAAAAAAAAAAAAAAAAAA", "x".repeat(201)];
  for (const cursor of wrong) {
    expectInvalid(await read(key, { cursor }), "cursor");
    expectInvalid(await send(`GET /v2/events/stream?cursor=${cursor}`, { key }), "cursor");
  }
  for (const [name, value] of Object.entries({
    from: "then",
    limit: "0",
    wait: "26",
    types: "link.set,links",
    chatId: "ada",
    gameId: "x",
  })) {
    expectInvalid(await read(key, { [name]: value }), name);
  }
  expect(textOf(links.body.data?.["events"]).length).toBeLessThanOrEqual(200);
  const last = await send("GET /v2/events/stream", { key, headers: { "last-event-id": foreign } });
  expectInvalid(last, "Last-Event-ID");
});

test("the event feed refuses guildId from a global key, and accepts the own guild of a guild key", async () => {
  for (const path of ["/v2/events", "/v2/events/stream", "/v2/links"] as const) {
    expectInvalid(await send(`GET ${path}?guildId=${guild}`, { key }), "guildId");
  }
  expect((await send("GET /v2/events", { key: guildKey })).status).toBe(200);
  expect((await send(`GET /v2/links?guildId=${guild}`, { key: guildKey })).status).toBe(200);
});

const [own, revoked] = [fixtures.key(), fixtures.key()];

test("at most sixteen readers per key wait for events, until the first one", async () => {
  const cursor = await now(own);
  const asked = Array.from({ length: 17 }, () => read(own, { cursor, wait: "25" }));
  const refused = await Promise.race(asked);
  expectRefusal(refused, 429, "RATE_LIMITED", { bucket: "event_readers" });
  expect(refused.body.meta?.["rateLimit"]?.["limit"]).toBe(16);
  expectRefusal(await send("GET /v2/events/stream", { key: own }), 429, "RATE_LIMITED", {
    bucket: "event_readers",
  });
  expect((await read(own)).status).toBe(200);
  const began = performance.now();
  await set(own, "100001", "1");
  const heard = (await Promise.all(asked)).filter((answer) => answer !== refused).map(typesOf);
  expect(heard).toEqual(Array.from({ length: 16 }, () => ["link.set"]));
  expect(performance.now() - began).toBeLessThan(20_000);
  expect((await read(own, { wait: "1" })).status).toBe(200);
});

test("a wait for events and a stream end when the key is revoked", async () => {
  const waiting = Promise.all([
    read(revoked, { wait: "25" }),
    send("GET /v2/events/stream", { key: revoked }),
  ]);
  await untilWaiting(2);
  const began = performance.now();
  await send("POST /v2/keys/leaked", { body: { key: revoked } });
  expect((await waiting).map(({ status }) => status)).toEqual([200, 200]);
  expect(performance.now() - began).toBeLessThan(20_000);
});

/** Reads a stream until it has `count` events. */
const follow = async (query: string, count: number, headers: Record<string, string> = {}) => {
  const address = `${url()}/v2/events/stream${query}`;
  const { body } = await fetch(address, { headers: { authorization: `Bearer ${key}`, ...headers } });
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.split("event: ").length > count) break;
  }
  return text;
};

test("events of a stream have a name, and a cursor as ID, and the stream resumes after Last-Event-ID", async () => {
  const cursor = await now(key);
  await set(key, "100001", "1");
  await set(key, "100001", "2");
  const text = await follow(`?cursor=${cursor}`, 2);
  expect(text.startsWith("retry: 2000\n\n")).toBe(true);
  const ids = [...text.matchAll(/^id: (.+)$/gm)].map(([, id = ""]) => id);
  expect([...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name)).toEqual(["link.set", "link.set"]);
  const data = [...text.matchAll(/^data: (.+)$/gm)].map(([, json = ""]) => JSON.parse(json) as Json);
  expect(data).toEqual(eventsOf(await read(key, { cursor })));
  expect(eventsOf(await read(key, { cursor: ids[0] ?? "" }))).toHaveLength(1);
  const resumed = await follow(`?cursor=${cursor}`, 1, { "last-event-id": ids[0] ?? "" });
  expect([...resumed.matchAll(/^id: (.+)$/gm)].map(([, id]) => id)).toEqual([ids[1]]);
});

test("a stream sends events that happen while it is open", async () => {
  await untilWaiting(0);
  const following = follow("?types=link.removed", 1);
  await untilWaiting(1);
  await set(key, "100007", "1");
  await send("DELETE /v2/game", { key, body: { chatId: "100007" } });
  expect(await following).toContain("event: link.removed");
});

const listed = fixtures.key({ links: { 100001: "1", 100002: "2", 100003: "3" } });

test("the list of links returns all links by chat ID, with the same feed cursor on each page", async () => {
  const pages: Array<Json> = [];
  let cursor = "";
  for (;;) {
    const { body } = await send(`GET /v2/links?limit=2${cursor}`, { key: listed });
    pages.push(body.data as Json);
    if ((body.data?.["cursor"] as unknown) === null) break;
    cursor = `&cursor=${textOf(body.data?.["cursor"])}`;
    await set(listed, "100009", String(pages.length));
  }
  const links = pages.flatMap((page) => listOf(page["links"]));
  expect(links.map(({ chatId, gameId }) => [chatId, gameId])).toEqual([
    ["100001", "1"],
    ["100002", "2"],
    ["100003", "3"],
    ["100009", "1"],
  ]);
  expect(links[0]).toEqual({
    chatId: "100001",
    gameId: "1",
    linkVersion: 1,
    lastVerifiedAt: expect.any(String) as unknown,
  });
  expect(new Set(pages.map((page) => page["events"])).size).toBe(1);
  const since = await read(listed, { cursor: textOf(pages[0]?.["events"]) });
  expect(typesOf(since)).toEqual(["link.set"]);
  expectInvalid(await send(`GET /v2/links?cursor=${await now(listed)}`, { key: listed }), "cursor");
});
