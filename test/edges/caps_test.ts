/** Caps on connections, for each client address and in total. */
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { connectTo, readAnswers } from "../support/raw_http.ts";
import { useServer } from "../support/server.ts";

const limit = 4;

const healthz = (forwardedFor: string) =>
  `GET /healthz HTTP/1.1\r\nHost: service.example\r\nX-Forwarded-For: ${forwardedFor}\r\n\r\n`;

/** Whether the server answers on the connection. */
const isServed = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve(false);
    socket.once("data", () => resolve(true));
    for (const event of ["end", "close"]) socket.once(event, () => resolve(false));
    socket.write(healthz("203.0.113.1"));
  });

const openMany = async (url: string, count: number) => {
  const sockets = await Promise.all(Array.from({ length: count }, () => connectTo(url)));
  const served = await Promise.all(sockets.map(isServed));
  return { sockets, served: served.filter(Boolean).length };
};

describe.each([
  [
    "of one client address",
    { ACCOUNTLINK_CONNECTIONS_PER_IP: String(limit), ACCOUNTLINK_TRUSTED_PROXIES: "" },
    "address",
  ],
  ["of all clients", { ACCOUNTLINK_CONNECTIONS: String(limit) }, "all"],
])("capped connections %s", (_, env, cap) => {
  const { url } = useServer(() => ({ fixture: {}, env }));

  test("connections above the cap are closed at once; when open ones end, new ones are served", async () => {
    const { sockets, served } = await openMany(url(), 3 * limit);
    expect(served).toBe(limit);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => {
      const again = await openMany(url(), 1);
      for (const socket of again.sockets) socket.destroy();
      expect(again.served).toBe(1);
    });
    const socket = await connectTo(url());
    socket.write("GET /metrics HTTP/1.1\r\nHost: service.example\r\nConnection: close\r\n\r\n");
    const [answer] = await readAnswers(socket);
    expect(answer?.text).toMatch(
      new RegExp(`^accountlink_http_connections_refused_total\\{cap="${cap}"\\} \\d+$`, "m"),
    );
  });
});

const fixtures = makeFixtures();
const key = fixtures.key({});
const { url, send } = useServer(() => ({
  fixture: fixtures.fixture,
  env: { ACCOUNTLINK_CONNECTIONS_PER_IP: String(limit) },
}));

test("open requests of a client address are capped, but connections of the proxy are not", async () => {
  const { sockets, served } = await openMany(url(), 3 * limit);
  expect(served).toBe(3 * limit);
  const waiting = [];
  for (const socket of sockets.slice(0, limit)) {
    const { body } = await send("POST /v2/sessions", { key, body: { clientId: "caps" } });
    const poll = `GET /v2/sessions/${textOf(body.data?.sid)}?wait=25 HTTP/1.1\r\nHost: service.example\r\n`;
    socket.write(
      `${poll}Authorization: Bearer ${key}\r\nX-Forwarded-For: 2001:db8:1:2::${waiting.length}\r\n\r\n`,
    );
    waiting.push(socket);
  }
  const status = async (from: string) => (await send("GET /v2/chat?chatId=100001", { key, from })).status;
  await eventually(async () => expect(await status("2001:db8:1:2::ffff")).toBe(429));
  const refused = await send("GET /v2/chat?chatId=100001", { key, from: "2001:db8:1:2::ffff" });
  expect(refused.body).toMatchObject({
    error: { code: "SHARED_IP_RATE_LIMITED", details: { bucket: "ip_second" } },
    meta: { rateLimit: { limit, scope: "ip", bucket: "ip_second" } },
  });
  expect(refused.headers["retry-after"]).toBe("1");
  expect(await status("2001:db8:1:3::1")).toBe(404);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect(await status("2001:db8:1:2::ffff")).toBe(404));
});
