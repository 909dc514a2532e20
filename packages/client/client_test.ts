import { getEventListeners } from "node:events";
import { withResolvers } from "@accountlink/test-servers";
import { expect, it, onTestFinished, vi } from "vitest";
import { AccountLinkError, type Answer, createClient } from "./mod.ts";
import { key, refusal, scripted, streaming, success } from "./test_service.ts";

const link = { chatId: "100001", gameId: "1", resolved: { game: null, chat: null } };

const errorOf = async (call: Promise<unknown>): Promise<AccountLinkError> => {
  const error: unknown = await call.then(
    () => new Error("The call succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof AccountLinkError) return error;
  throw error;
};

// `clients/cases.json` has more requests and answers, which the clients of all languages share.

it("a call sends null for undefined in a body, no null in a query, and ids of any text in the path", async () => {
  const { client, heard } = await scripted([success(link)]);
  await client.links.get("100001", { guildId: null, timeout: 5_000 });
  await client.links.deleteAll({ confirm: true, guildId: undefined, timeout: 5_000 });
  await client.sessions.cancel("a/b");
  expect(heard.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["GET", "/v2/chat", ""],
    ["DELETE", "/v2/data", '{"confirm":true,"guildId":null}'],
    ["DELETE", "/v2/sessions/a%2Fb", ""],
  ]);
  expect(Object.fromEntries(heard[0]?.query ?? [])).toEqual({ chatId: "100001" });
  expect(heard.map(({ headers }) => headers["content-type"])).toEqual([
    undefined,
    "application/json",
    undefined,
  ]);
  expect(heard[0]?.headers["idempotency-key"]).toBeUndefined();
  expect(client.sessions.redirectUrl("a/b")).toMatch(/^http:.*\/v2\/sessions\/a%2Fb\/redirect$/);
});

it("the client keeps the path of its url, and sends no authorization without a key", async () => {
  const { url, heard } = await scripted([success(link), success(link)]);
  await createClient({ url: `${url}/links//` }).links.get("100001");
  await createClient({ url: new URL(`${url}/links/`) }).links.get("100001");
  expect(heard.map(({ path }) => path)).toEqual(["/links/v2/chat", "/links/v2/chat"]);
  expect(heard[0]?.headers.authorization).toBeUndefined();
});

it("createClient refuses an option that it does not know", () => {
  const options = { url: "https://links.example", apiKey: key };
  expect(() => createClient(options)).toThrow(
    new TypeError('Cannot create a client: the option "apiKey" is unknown'),
  );
});

it("createClient refuses an invalid url, and accepts a path only on a web page", () => {
  const wrong = ["links.example:8080", "example", undefined as unknown as string];
  const paths = ["/links", ""];
  for (const url of [...wrong, ...paths]) {
    expect(() => createClient({ url, key })).toThrow(
      new TypeError(`Cannot create a client: the url is "${url}", expected https://… or http://…`),
    );
  }
  vi.stubGlobal("location", {});
  onTestFinished(() => void vi.unstubAllGlobals());
  for (const url of wrong) expect(() => createClient({ url })).toThrow("Cannot create a client");
  for (const url of ["https://links.example", ...paths]) createClient({ url });
});

it("the client uses the given fetch", async () => {
  const fetch = (request: Request) => Promise.resolve(Response.json({ data: { url: request.url } }));
  const client = createClient({ url: "http://links.example", key, fetch });
  expect(await client.links.verification("100001")).toEqual({
    url: "http://links.example/v2/verifications/chat?chatId=100001",
  });
});

it("events with an empty cursor begin at the present cursor", async () => {
  const event = "id: 2\nevent: link.set\ndata: {}\n\n";
  const { client, heard } = await scripted([success({ cursor: "1" }), streaming([event])]);
  expect((await client.events({ cursor: "" }).next()).value).toEqual({ cursor: "2" });
  expect(heard.map(({ query }) => query.get("cursor"))).toEqual([null, "1"]);
});

it("createClient refuses a key that is invalid in a header, without showing the key", () => {
  for (const invalid of ["alk_\nsecret", "", null as unknown as string]) {
    expect(() => createClient({ url: "http://links.example", key: invalid })).toThrow(
      new TypeError("Cannot create a client: the key is empty or has characters that no key has"),
    );
  }
});

it("onAnswer is called for every response, including refusals", async () => {
  const answers: Array<Answer> = [];
  const { client } = await scripted([refusal(503, "INTERNAL_ERROR"), success(link)], {
    onAnswer: (answer) => answers.push(answer),
  });
  await client.links.get("100001");
  expect(answers).toMatchObject([
    { route: "getChat", status: 503, meta: { requestId: "req_1" } },
    { route: "getChat", status: 200, meta: { rateLimit: { limit: 1, remaining: 0 }, tier: "free" } },
  ]);
  expect(answers[1]?.headers.get("content-type")).toBe("application/json");
});

it("a call rejects with UNEXPECTED_RESPONSE when the response is empty or JSON without data", async () => {
  for (const body of ["", []]) {
    const { client, heard } = await scripted([{ body, headers: { "x-request-id": "req_2" } }]);
    const error = await errorOf(client.links.get("100001"));
    expect({ ...error }).toEqual({
      name: "AccountLinkError",
      code: "UNEXPECTED_RESPONSE",
      details: null,
      route: "getChat",
      status: 200,
      requestId: "req_2",
      retryAfter: null,
    });
    expect([error instanceof Error, heard.length]).toEqual([true, 1]);
  }
});

it.each([
  ["a silent connection", "silent"],
  [
    "a Retry-After date in the past",
    refusal(429, "RATE_LIMITED", { headers: { "retry-after": "Thu, 01 Jan 2026 00:00:00 GMT" } }),
  ],
] as const)("a call is retried after %s", async (_what, answer) => {
  const { client, heard } = await scripted([answer, answer, success(link)]);
  expect(await client.links.get("100001", { timeout: 1_000 })).toEqual(link);
  expect(heard).toHaveLength(3);
});

it("retries of a call use the same idempotency key, which no other call uses", async () => {
  const { client, heard } = await scripted(["cut", refusal(503, "INTERNAL_ERROR"), success({})]);
  await client.links.set("100001", "1");
  await client.links.set("100001", "1");
  await client.links.set("100001", "1", { idempotencyKey: "mine" });
  const keys = heard.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3], "mine"]);
  expect(new Set(keys).size).toBe(3);
  expect(keys[0]).toMatch(/^[!-~]{20,255}$/);
});

it("a call stops retrying when retryFor is over", async () => {
  const { client, heard } = await scripted(["cut"], { retryFor: 1_000 });
  const error = await errorOf(client.links.get("100001"));
  expect(error).toMatchObject({ code: "NETWORK_ERROR", status: null, requestId: null, retryAfter: null });
  expect(error.cause).toBeInstanceOf(Error);
  expect(heard.length).toBeGreaterThan(1);
  expect((await errorOf(client.links.get("100001", { retryFor: 0, timeout: 2_000 }))).code).toBe(
    "NETWORK_ERROR",
  );
});

it("a call rejects with the reason of its signal, before, during and between attempts", async () => {
  const reason = new Error("No longer wanted");
  const { client } = await scripted([
    "silent",
    refusal(503, "INTERNAL_ERROR", { headers: { "retry-after": "20" } }),
  ]);
  await expect(client.links.get("100001", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const waiting = new AbortController();
  const calls = [
    client.links.get("100001", { signal: waiting.signal }),
    client.links.get("100001", { signal: waiting.signal, onAnswer: () => waiting.abort(reason) }),
  ];
  expect(await Promise.allSettled(calls)).toMatchObject([{ reason }, { reason }]);
});

it("the error of a failed call contains no part of the key", async () => {
  const { client } = await scripted(["cut"], { retryFor: 0 });
  const error = await errorOf(client.links.get("100001"));
  const texts = [error.stack, error.cause instanceof Error ? error.cause.stack : "", JSON.stringify(error)];
  expect(texts.join("\n")).not.toContain("ssss");
});

it("a request that cannot be built and a refused stream leave nothing open", async () => {
  const closed = withResolvers<void>();
  const { client } = await scripted([
    (outgoing) => {
      outgoing.once("close", closed.resolve);
      outgoing.writeHead(500, { "content-type": "text/event-stream" }).write(":\n\n");
    },
  ]);
  const { signal } = new AbortController();
  await expect(client.sessions.get("\uD800", { signal })).rejects.toThrow(URIError);
  expect((await errorOf(client.sessions.watch("vs_1", { signal }).next())).status).toBe(500);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await closed.promise;
});
