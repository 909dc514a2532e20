import { expect, it, onTestFinished, vi } from "vitest";
import { AccountLinkError, type Answer, createClient } from "./mod.ts";
import { key, refusal, scripted, success } from "./test_service.ts";

const link = { chatId: "100001", gameId: "1", resolved: { game: null, chat: null } };

const errorOf = async (call: Promise<unknown>): Promise<AccountLinkError> => {
  const error: unknown = await call.then(
    () => new Error("The call succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof AccountLinkError) return error;
  throw error;
};

it("the client sends the key and the contract's date in headers, and parameters in the query", async () => {
  const { client, heard } = await scripted([success(link)]);
  expect(await client.links.get("100001", { guildId: null, resolved: true })).toEqual(link);
  const [request] = heard;
  expect(request).toMatchObject({ method: "GET", path: "/v2/chat", body: "" });
  expect(Object.fromEntries(request?.query ?? [])).toEqual({ chatId: "100001", resolved: "true" });
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${key}`, "service-version": "2026-01-01" });
  expect(request?.headers["idempotency-key"]).toBeUndefined();
});

it("the client sends the parameters of a write in the body, with null for undefined", async () => {
  const { client, heard } = await scripted([success({})]);
  await client.links.deleteAll({ confirm: true, guildId: undefined, timeout: 5_000 });
  expect(heard[0]).toMatchObject({
    method: "DELETE",
    path: "/v2/data",
    body: '{"confirm":true,"guildId":null}',
  });
});

it("the client sends the sid in the path, and sends no body if there are no other parameters", async () => {
  const { client, heard } = await scripted([success({})]);
  await client.sessions.cancel("a/b");
  expect(heard[0]).toMatchObject({ method: "DELETE", path: "/v2/sessions/a%2Fb", body: "" });
  expect(heard[0]?.headers["content-type"]).toBeUndefined();
  expect(client.sessions.redirectUrl("a/b")).toMatch(/^http:.*\/v2\/sessions\/a%2Fb\/redirect$/);
});

it("the client keeps the path of its url, and sends no authorization without a key", async () => {
  const { url, heard } = await scripted([success(link)]);
  await createClient({ url: `${url}/links//` }).links.get("100001");
  expect(heard[0]?.path).toBe("/links/v2/chat");
  expect(heard[0]?.headers.authorization).toBeUndefined();
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

it("createClient refuses a key that is invalid in a header, without showing the key", () => {
  for (const invalid of ["alk_\nsecret", ""]) {
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

it("a refusal becomes an error with its code, details and request id", async () => {
  const details = { parameters: ["guildId"] };
  const { client, heard } = await scripted([refusal(400, "MISSING_PARAMETER", { details })]);
  const error = await errorOf(client.links.get("100001"));
  expect(error).toBeInstanceOf(Error);
  expect(Object.assign({}, error, { message: error.message })).toEqual({
    name: "AccountLinkError",
    message: "No",
    code: "MISSING_PARAMETER",
    details,
    route: "getChat",
    status: 400,
    requestId: "req_1",
    retryAfter: null,
  });
  expect(heard).toHaveLength(1);
});

it.each([
  ["a page", { body: "<!doctype html>", headers: { "x-request-id": "req_2" } }, 200],
  ["a redirect", { status: 302, headers: { location: "/elsewhere", "x-request-id": "req_2" } }, 302],
  ["empty", { body: "", headers: { "x-request-id": "req_2" } }, 200],
  ["JSON without data", { body: [], headers: { "x-request-id": "req_2" } }, 200],
])("a call rejects with UNEXPECTED_RESPONSE when the response is %s", async (_what, answer, status) => {
  const { client, heard } = await scripted([answer]);
  const error = await errorOf(client.links.get("100001"));
  expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", status, requestId: "req_2" });
  expect(heard).toHaveLength(1);
});

// More cases are in `clients/cases.json`, which the clients of all languages share.
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
