/** The access log, as docs/telemetry.md describes it. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";

interface Line {
  readonly message: string;
  readonly level: string;
  readonly annotations: Readonly<Record<string, unknown>>;
}

const fixtures = makeFixtures();
const key = fixtures.key({ limits: "none", links: { 100001: "1" } });
const keyId = key.split("_")[1];

const servers = new Map<string, RunningServer>();
beforeAll(async () => {
  for (const level of ["info", "debug"]) {
    servers.set(
      level,
      await startServerHere({ fixture: fixtures.fixture, env: { ACCOUNTLINK_LOG_LEVEL: level } }),
    );
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

/** Waits for the line, since it may arrive after the answer. */
const lineFor = (server: RunningServer, requestId: unknown) =>
  eventually(() => {
    const lines = linesOf(server).filter(
      ({ message, annotations }) => message === "Request answered" && annotations["requestId"] === requestId,
    );
    expect(lines).toHaveLength(1);
    return lines[0] as Line;
  });

it("the access log has a debug line for each answer, without query and address", async () => {
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
] as const)("the access log has a line for %s", async (request, route, level, status) => {
  const server = serverAt("debug");
  // Of an address, one refusal a second is logged in full.
  const { headers } = await server.send(request, { from: `192.0.2.${route.length}` });
  const line = await lineFor(server, headers["x-request-id"]);
  expect([line.annotations["route"], line.level, line.annotations["status"]]).toEqual([route, level, status]);
  expect(server.output()).not.toContain("secret/100001");
});

it("at level info, the access log has lines for refusals, but not for users without a link", async () => {
  const server = serverAt("info");
  const linked = await server.send("GET /v2/chat?chatId=100001", { key });
  const unlinked = await server.send("GET /v2/chat?chatId=100009", { key });
  const refused = await server.send("GET /v2/chat?chatId=nobody", { key });
  const { level, annotations } = await lineFor(server, refused.headers["x-request-id"]);
  expect([level, annotations["status"], annotations["code"]]).toEqual(["INFO", 400, "INVALID_PARAMETER"]);
  expect(unlinked.status).toBe(404);
  for (const { headers } of [linked, unlinked])
    expect(server.output()).not.toContain(headers["x-request-id"]);
  expect(server.output()).not.toContain("nobody");
});
