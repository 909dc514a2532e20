import { StoreUnavailable } from "@accountlink/core/errors";
import { afterAll, expect, it } from "vitest";
import { failingOnce, makeWeb } from "./test_web.ts";
import type { WebHandler, WebHandlerOptions } from "./web_handler.ts";

const web = makeWeb();
afterAll(web.stop);

const ada = { clientAddress: "203.0.113.7" };

interface Asked extends RequestInit {
  readonly key?: string;
  readonly from?: { readonly clientAddress?: string };
}

/** Sends a request given as a line such as `GET /v2/chat`. */
const send = (handler: WebHandler, line: string, { key, from = ada, ...init }: Asked = {}) => {
  const [method = "", path = ""] = line.split(" ");
  const headers = new Headers(init.headers);
  if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
  return handler.fetch(new Request(`https://ours.example${path}`, { ...init, method, headers }), from);
};

const statusOf = async (...asked: Parameters<typeof send>) => (await send(...asked)).status;

/** Sends requests with keys that do not exist, and returns the distinct statuses of the responses. */
const guess = async (handler: WebHandler, times: number, from: NonNullable<Asked["from"]>) => {
  const statuses = new Set<number>();
  for (let time = 0; time < times; time++) {
    const key = `alk_000000000000_${String(time).padStart(43, "0")}`;
    statuses.add(await statusOf(handler, "GET /v2/chat?chatId=100001", { key, from }));
  }
  return [...statuses];
};

it.each<[Partial<Record<keyof WebHandlerOptions, unknown>>, string]>([
  [{ clientAddress: undefined }, 'clientAddress is undefined, expected "given"'],
  [{ clientAddress: "203.0.113.7" }, 'clientAddress is "203.0.113.7", expected "given"'],
  [{ publicUrl: "ours.example" }, 'publicUrl is "ours.example", expected an origin'],
  [{ publicUrl: "wss://ours.example" }, 'publicUrl is "wss://ours.example", expected an origin'],
  [{ publicUrl: "https://ours.example/links" }, 'and its path as "basePath"'],
  [{ basePath: "links" }, 'basePath is "links", expected a path such as "/links"'],
  [{ basePath: "/links?" }, 'basePath is "/links?", expected a path'],
  [{ trustedProxies: ["ten"] }, 'trustedProxies is "ten", expected IP addresses and CIDRs'],
])("makeWebHandler refuses %j", (options, message) => {
  expect(() => web.handler(options as Partial<WebHandlerOptions>)).toThrow(message);
});

it("the first request starts the services, and the next request tries again if that fails", async () => {
  const { handler, starts } = failingOnce();
  expect(starts()).toBe(0);
  await expect(statusOf(handler, "GET /healthz")).rejects.toThrow(StoreUnavailable);
  expect(await Promise.all([statusOf(handler, "GET /readyz"), statusOf(handler, "GET /readyz")])).toEqual([
    200, 200,
  ]);
  expect(starts()).toBe(2);
  await handler.close();
});

it("the web handler stops reading a body that exceeds the maximum", async () => {
  const handler = web.handler();
  const key = await web.newKey();
  let read = 0;
  const body = new ReadableStream({
    pull: (controller) => {
      read += 16_384;
      controller.enqueue(new Uint8Array(16_384).fill(32));
    },
  });
  const headers = { "content-type": "application/json" };
  const init = { key, body, headers, duplex: "half" } as Asked;
  expect(await (await send(handler, "PATCH /v2/game", init)).json()).toMatchObject({
    error: { code: "INVALID_BODY", details: { reason: expect.stringContaining("larger than 65536 bytes") } },
  });
  expect(read).toBeLessThan(200_000);
});

it("a request without the expected client address is answered 500", async () => {
  const handler = web.handler();
  const key = await web.newKey();
  for (const clientAddress of [undefined, null, "", "ours.example"]) {
    const from = { clientAddress } as NonNullable<Asked["from"]>;
    expect(await statusOf(handler, "GET /v2/chat?chatId=100001", { key, from })).toBe(500);
  }
});

it("without client addresses, limits of keys still apply, wrong keys are not throttled, and keys with address lists are refused", async () => {
  const handler = web.handler({ clientAddress: "none" });
  expect(await guess(handler, 35, {})).toEqual([401]);
  const asked = (key: string) => statusOf(handler, "GET /v2/game?gameId=2", { key, from: {} });
  const limited = await web.newKey({ limits: { perWindow: 1, windowMs: 60_000 } });
  expect([await asked(limited), await asked(limited)]).toEqual([404, 429]);
  expect(await asked(await web.newKey({ allowIps: ["0.0.0.0/0"] }))).toBe(403);
});
