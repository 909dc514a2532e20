/** What the log says of requests, and of what points to stolen or guessed keys. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { patience } from "../support/patience.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";

interface Line {
  readonly message: string;
  readonly level: string;
  readonly annotations: Readonly<Record<string, unknown>>;
}

const fixtures = makeFixtures();
const key = fixtures.key({ limits: "none", links: { 100001: "1" } });
const keyId = key.split("_")[1];
const wrongKey = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;

const servers = new Map<string, RunningServer>();
beforeAll(async () => {
  for (const level of ["info", "debug"]) {
    const env = { ACCOUNTLINK_LOG_LEVEL: level, ACCOUNTLINK_IP_AUTH_FAILURES: "3" };
    servers.set(level, await startServerHere({ fixture: fixtures.fixture, env }));
  }
});
afterAll(() => Promise.all([...servers.values()].map((server) => server.stop())));

const serverAt = (level: "info" | "debug") => servers.get(level) as RunningServer;

const linesOf = (server: RunningServer): ReadonlyArray<Line> =>
  server
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);

/** The line of the access log for a request. It is written before the answer, and may be read after it. */
const lineFor = (server: RunningServer, requestId: unknown) =>
  vi.waitFor(() => {
    const lines = linesOf(server).filter(
      ({ message, annotations }) => message === "Request answered" && annotations["requestId"] === requestId,
    );
    expect(lines).toHaveLength(1);
    return lines[0] as Line;
  }, patience);

describe("the access log", () => {
  it("has a line at debug for an answer, without its query and address", async () => {
    const server = serverAt("debug");
    const answer = await server.send("GET /v2/chat?chatId=100001", { key, from: "203.0.113.7" });
    const { level, annotations } = await lineFor(server, answer.headers["x-request-id"]);
    expect({ level, ...annotations }).toEqual({
      level: "DEBUG",
      requestId: answer.headers["x-request-id"],
      method: "GET",
      route: "getChat",
      status: 200,
      code: "OK",
      key: keyId,
      milliseconds: expect.any(Number),
    });
    expect(server.output()).not.toContain("203.0.113.7");
  });

  it.each([
    ["GET /readyz", "system", "DEBUG", 200],
    ["OPTIONS /v2/chat", "options", "DEBUG", 204],
    ["GET /secret/100001", "unmatched", "INFO", 404],
    ["GET /verify?pid=pid_unknown", "verify", "INFO", 404],
  ] as const)("has a line for %s", async (request, route, level, status) => {
    const server = serverAt("debug");
    const { headers } = await server.send(request);
    const line = await lineFor(server, headers["x-request-id"]);
    expect([line.annotations["route"], line.level, line.annotations["status"]]).toEqual([
      route,
      level,
      status,
    ]);
    expect(server.output()).not.toContain("secret/100001");
  });

  it("has only what is refused at info", async () => {
    const server = serverAt("info");
    const good = await server.send("GET /v2/chat?chatId=100001", { key });
    const refused = await server.send("GET /v2/chat?chatId=999999999", { key });
    const { level, annotations } = await lineFor(server, refused.headers["x-request-id"]);
    expect([level, annotations["status"], annotations["code"]]).toEqual(["INFO", 404, "LINK_NOT_FOUND"]);
    expect(server.output()).not.toContain(good.headers["x-request-id"]);
    expect(server.output()).not.toContain("999999999");
  });
});

describe("security events", () => {
  const eventsIn = (server: RunningServer, message: string) =>
    linesOf(server).filter((line) => line.message === message);

  it("are wrong keys and throttles, counted by network", async () => {
    const server = serverAt("info");
    for (const from of ["198.51.100.1", "198.51.100.1", "198.51.100.1", "198.51.100.1", "198.51.100.2"]) {
      await server.send("GET /v2/chat?chatId=100001", { key: wrongKey, from });
    }
    const [wrong, ...others] = await vi.waitFor(() => {
      expect(eventsIn(server, "Throttled for wrong keys")).toHaveLength(1);
      return eventsIn(server, "Wrong key");
    }, patience);
    expect(others).toEqual([]);
    expect(wrong).toMatchObject({
      level: "WARN",
      annotations: { count: 1, network: expect.stringMatching(/^[\w-]{22}$/) },
    });
    expect(server.output()).not.toContain("198.51.100");
  });

  it("are keys that come from a network for the first time", async () => {
    const server = serverAt("info");
    const before = eventsIn(server, "Key used from a new network").length;
    for (const from of ["192.0.2.1", "192.0.2.200", "2001:db8::1", "2001:db8::2", "192.0.2.1"]) {
      await server.send("GET /v2/chat?chatId=100001", { key, from });
    }
    const events = await vi.waitFor(() => {
      const found = eventsIn(server, "Key used from a new network").slice(before);
      expect(found).toHaveLength(2);
      return found;
    }, patience);
    expect(new Set(events.map(({ annotations }) => annotations["key"]))).toEqual(new Set([keyId]));
    expect(new Set(events.map(({ annotations }) => annotations["network"])).size).toBe(2);
  });
});
