/** `Idempotency-Key`: a write is executed once, and its answer is replayed. */
import { randomUUID } from "node:crypto";
import { routes } from "@accountlink/http-api";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { guild, stranger } from "../support/fixtures.ts";
import { type Answer, type RequestOptions, textOf } from "../support/http.ts";
import { dataOf, expectInvalid, expectMissing, expectRefusal, useContractServer } from "./contract_server.ts";
import type { Recipe } from "./recipe.ts";
import { v2Recipes } from "./recipes.ts";

type Line = `${string} ${string}`;

const { fixtures, send, platform } = useContractServer(
  { ACCOUNTLINK_SESSION_CREATE_BURST: "1", ACCOUNTLINK_SESSION_CREATE_REFILL: "500 millis" },
  { usual: "postgres" },
);

const links = { 100001: "1", 100002: "2" };
const newKey = () => fixtures.key({ tier: "premium", links });

/** Returns a function that sends requests with this API key and with an idempotency key. */
const senderOf =
  (key: string) =>
  (line: Line, idempotencyKey: string, body?: object, options: RequestOptions = {}): Promise<Answer> =>
    send(line, {
      key,
      ...(body === undefined ? {} : { body }),
      ...options,
      headers: { "idempotency-key": idempotencyKey },
    });

const isReplayed = ({ headers }: Answer): boolean => headers["idempotent-replayed"] === "true";

const expectReplay = (first: Answer, second: Answer): void => {
  const { status, data, error } = first.body;
  expect(second.body).toMatchObject({ status, ...(data === undefined ? { error } : { data }) });
  expect([second.status, isReplayed(first), isReplayed(second)]).toEqual([first.status, false, true]);
  expect(second.body.meta?.requestId).not.toBe(first.body.meta?.requestId);
  expect(second.headers["x-request-id"]).toBe(second.body.meta?.requestId);
};

const expectConflict = (answer: Answer, reason: "in_use" | "reused"): void => {
  expectRefusal(answer, 409, "CONFLICT", { reason: `idempotency_key_${reason}` });
  expect(isReplayed(answer)).toBe(false);
};

const reversed = (body: object): object => Object.fromEntries(Object.entries(body).toReversed());

/** What a route needs before the request of its recipe. Returns the session for the path. */
const prepare = async (id: string, key: string): Promise<string> => {
  if (id === "deleteAltReview") {
    const review = { chatId: "100001", otherChatId: "100002", verdict: "same" };
    await send("PUT /v2/alts/reviews", { key, body: review });
  }
  if (id !== "cancelSession") return "";
  return textOf(dataOf(await send("POST /v2/sessions", { key, body: { clientId: "client" } }), 201).sid);
};

describe.each(routes.filter(({ isIdempotent }) => isIdempotent))("$id", ({ id, method, path, source }) => {
  const key = newKey();
  const { good, data } = v2Recipes[id] as Recipe;
  const [body, again] = source === "body" ? [good, reversed(good)] : [];

  test("an idempotent write runs once: a repetition gets its answer, and a different request is refused", async () => {
    const ask = senderOf(key);
    const line: Line = `${method} ${path.replace(":sid", await prepare(id, key))}`;
    const first = await ask(line, "once", body);
    expect(first.body.data).toMatchObject(id === "deleteAltReview" ? { deleted: true } : (data as object));
    expectReplay(first, await ask(line, "once", again));
    expectConflict(await ask("POST /v2/sessions", "once", { clientId: "another" }), "reused");
    expectReplay(first, await ask(line, "once", body));
  });
});

const key = newKey();

/** Sends a request and repeats it at once, while the game platform takes this long. */
const both = async (delayMs: number, gameId: string) => {
  await platform.fail({ mode: "slow", platform: "game", delayMs });
  const [body, name] = [{ chatId: "100001", gameId }, randomUUID()];
  const answers = [1, 2].map(() => senderOf(key)("PATCH /v2/game", name, body));
  return { body, name, answers };
};

test("a request that is repeated while it runs is answered once, and replayed", async () => {
  const { body, answers } = await both(300, "5");
  const [first, second] = (await Promise.all(answers)).toSorted((a, b) => +isReplayed(a) - +isReplayed(b));
  expect(first?.body.data).toMatchObject({ ...body, previousGameId: "1", updated: true });
  expectReplay(first as Answer, second as Answer);
  await platform.recover();
});

test("a request that runs for more than a second keeps its key, and other requests with it are refused", async () => {
  let slow = await both(1_400, "6");
  // On a busy machine, the second one may arrive so late that the first one ends before it has waited for a second.
  for (let again = 0; again < 5 && (await Promise.race(slow.answers)).status === 200; again++)
    slow = await both(1_400, "6");
  const { body, name, answers } = slow;
  expectConflict(await Promise.race(answers), "in_use");
  expectConflict(await senderOf(key)("PATCH /v2/game", name, { ...body, gameId: "1" }), "reused");
  const done = (await Promise.all(answers)).find(({ status }) => status === 200) as Answer;
  expect(done.body.data).toMatchObject({ ...body, updated: true });
  expectReplay(done, await senderOf(key)("PATCH /v2/game", name, body));
  await platform.recover();
});

const refusing = newKey();
const askRefused = senderOf(refusing);

test.each<[status: number, line: Line, body: object]>([
  [404, "PATCH /v2/chat", { oldChatId: "100009", newChatId: "100008" }],
  [403, "PATCH /v2/game", { chatId: stranger, gameId: "1", guildId: guild }],
  [409, "PATCH /v2/chat", { oldChatId: "100001", newChatId: "100002" }],
  [404, `DELETE /v2/sessions/vs_${"0".repeat(43)}`, {}],
])("refusals after the checks are replayed: %i for %s %j", async (status, line, body) => {
  const idempotencyKey = randomUUID();
  const first = await askRefused(line, idempotencyKey, body);
  expect(first.status).toBe(status);
  expectReplay(first, await askRefused(line, idempotencyKey, body));
});

test.each<[line: Line, wrong: object, right: object, status: number]>([
  ["POST /v2/sessions", { redirect: "https://elsewhere.example/" }, {}, 201],
  ["PUT /v2/alts/reviews", { otherChatId: "100001" }, { otherChatId: "100002" }, 200],
])(
  "refusals of combined values leave the idempotency key unused: %s %j",
  async (line, wrong, right, status) => {
    const idempotencyKey = randomUUID();
    const body = { clientId: "client", chatId: "100001", verdict: "same" };
    expect((await askRefused(line, idempotencyKey, { ...body, ...wrong })).status).toBe(400);
    const first = await askRefused(line, idempotencyKey, { ...body, ...right });
    expect([first.status, isReplayed(first)]).toEqual([status, false]);
  },
);

test("retryable refusals leave the idempotency key unused", async () => {
  const body = { chatId: "100004", gameId: "7" };
  await platform.fail({ mode: "down", platform: "game" });
  expectRefusal(await askRefused("PATCH /v2/game", "down", body), 503, "INTERNAL_ERROR", null);
  await platform.recover();
  await eventually(async () => {
    const answer = await askRefused("PATCH /v2/game", "down", body);
    expect([answer.status, isReplayed(answer)]).toEqual([200, false]);
  });
});

const patch = (headers: NonNullable<RequestOptions["headers"]>, body: object) =>
  send("PATCH /v2/game", { key, headers, body });

test.each([
  ["nothing", ""],
  ["256 characters", "x".repeat(256)],
  ["a space", "two words"],
  ["two of them", ["one", "two"]],
])("the Idempotency-Key header is refused with %s", async (_title, value) => {
  const headers = { "idempotency-key": value };
  const answer = await patch(headers, { chatId: "100001", gameId: "2" });
  expectInvalid(answer, "Idempotency-Key: expected 1 to 255 visible ASCII characters");
  expectMissing(await patch(headers, { chatId: "100001" }), "gameId");
});

test.each(["!", `~${"x".repeat(254)}`, '"8e03978e-40d5-43e8-bc93-6894a57f9324"'])(
  "the Idempotency-Key header accepts %s",
  async (idempotencyKey) => {
    const body = { chatId: "100001", gameId: "1" };
    const first = await senderOf(key)("PATCH /v2/game", idempotencyKey, body);
    expectReplay(first, await senderOf(key)("PATCH /v2/game", idempotencyKey, body));
  },
);

test("the Idempotency-Key header is ignored by reads and by v1", async () => {
  const ignored = { key, headers: { "idempotency-key": "not visible" } };
  const answers = [
    await send("GET /v2/chat?chatId=100001", ignored),
    await send("POST /v2/chat/bulk", { ...ignored, body: { chatIds: ["100001"] } }),
    await send("GET /v2/alts/reviews?chatId=100001", ignored),
    await send("POST /v2/keys/leaked", { ...ignored, body: { key: "alk_unknown" } }),
    await send("PUT /api/v1/link/update-game?chatId=100001&newGameId=3", ignored),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const same = { key, headers: { "idempotency-key": "same" } };
  for (const status of [200, 400]) {
    expect((await send("DELETE /api/v1/link/delete-game?chatId=100001", same)).status).toBe(status);
  }
});

const shared = { account: "sharing", tier: "premium", links } as const;
const [one, two] = [fixtures.key(shared), fixtures.key(shared)];
const limited = fixtures.key({ links, limits: { perWindow: 0, windowMs: 1_000, daily: 3, verifyDaily: 9 } });

test("idempotency keys are separate for each API key", async () => {
  const body = { chatId: "100001" };
  expect((await senderOf(one)("DELETE /v2/game", "mine", body)).status).toBe(200);
  const other = await senderOf(two)("DELETE /v2/game", "mine", body);
  expect([other.status, isReplayed(other)]).toEqual([404, false]);
});

test("a replay counts as a request, and reports the current limits", async () => {
  const ask = () => senderOf(limited)("PATCH /v2/game", "costs", { chatId: "100001", gameId: "1" });
  const answers = [await ask(), await ask(), await ask(), await ask()];
  expect(answers.map(({ status, headers }) => [status, headers["x-ratelimit-remaining-day"]])).toEqual([
    [200, "2"],
    [200, "1"],
    [200, "0"],
    [429, "0"],
  ]);
  expect(answers.map(isReplayed)).toEqual([false, true, true, false]);
});
