/** The load balancers of deploy/: client addresses, hidden routes, caps and outages. */
import { setTimeout as sleep } from "node:timers/promises";
import { storageAt } from "@accountlink/server/test_command_line";
import {
  isProof,
  makePostgresDatabase,
  runUntil,
  startHttpServer,
  startProxy,
  throughProxy,
  whyNoPostgresDatabase,
} from "@accountlink/test-servers";
import { Effect } from "effect";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { type AskOptions, ask, balancers, readExample } from "./balancers.ts";

const config = readExample("haproxy.cfg");
const { services, networks } = parse(readExample("compose.yaml"));
const [subnet] = networks.front.ipam.config;

/** Returns the lines that are commented out in an example, because they are for a balancer behind another proxy. */
const behindAnother = (file: string): string =>
  [...readExample(file).matchAll(/^ +# {3}(\S.*)$/gm)]
    .map(([, line = ""]) => line)
    .filter((line) => !line.startsWith("listen "))
    .join("\n");

it("haproxy.cfg names the services of compose.yaml", () => {
  const [, port] = /^ {2}bind :(\d+) ssl crt (\S+)$/m.exec(config) ?? [];
  expect(services.balancer.ports).toEqual([`0.0.0.0:443:${port}`]);
  expect(config).toContain(`crt /run/secrets/${services.balancer.secrets[0]}\n`);
  expect(config).toContain(`server-template node ${services.accountlink.deploy.replicas} accountlink:8080 `);
  expect(services.accountlink.environment.ACCOUNTLINK_TRUSTED_PROXIES).toBe(subnet.subnet);
  expect(behindAnother("haproxy.cfg")).toContain(`{ src ${subnet.gateway} }`);
});

const withoutPostgres = await whyNoPostgresDatabase();

for (const { name, file, whyNone, start, cappedAt, behindProxy, checksAreQuick } of balancers) {
  // Each simulated client needs its own loopback address, and only Linux offers more than one.
  const missing =
    process.platform === "linux" ? await whyNone() : "without several loopback addresses (Linux)";

  describe.skipIf(missing !== null)(`deploy/ at work: ${name} ${missing ?? ""}`, () => {
    const balancer = "127.0.0.1";
    const gateway = "127.0.0.9";
    const perDay = 2;
    const fixtures = makeFixtures();
    const key = fixtures.key({ links: { 100001: "1" } });
    let server: RunningServer;

    beforeAll(async () => {
      server = await startServerHere({
        fixture: fixtures.fixture,
        env: { ACCOUNTLINK_TRUSTED_PROXIES: `${balancer},${gateway}`, ACCOUNTLINK_IP_DAILY: `${perDay}` },
      });
    });
    afterAll(() => server.stop());
    const run = runUntil(afterAll);
    // Of nginx, only the proof tests more than what keeps addresses apart and pages hidden.
    const isChecked = isProof || name === "haproxy";

    const startBalancer = async (
      changes: Readonly<Record<string, string>> = {},
      ...urls: ReadonlyArray<string>
    ) => {
      const servers = (urls.length === 0 ? [server.url] : urls).map((url) => new URL(url).host);
      const port = await run(start({ servers, changes }));
      return (path: string, from: string, options: AskOptions = {}) =>
        ask({ port, path, from, key, ...options });
    };

    it("a balancer counts each client by its real address, and ignores X-Forwarded-For from clients", async () => {
      const send = await startBalancer();
      const statuses: Array<number | undefined> = [];
      for (let day = 0; day <= perDay; day++) {
        const answer = await send("/v2/chat?chatId=100001", "127.0.0.2", { says: `203.0.113.${day}` });
        statuses.push(answer.status);
      }
      expect(statuses).toEqual([200, 200, 429]);
      expect((await send("/v2/chat?chatId=100001", "127.0.0.3")).status).toBe(200);
    });

    it("a balancer behind another proxy trusts X-Forwarded-For only from this proxy", async () => {
      const lines = behindAnother(file);
      expect(lines).toContain(subnet.gateway);
      const send = await startBalancer(behindProxy(lines.replace(subnet.gateway, gateway)));
      const statusOf = async (from: string, says: string) =>
        (await send("/v2/chat?chatId=100001", from, { says })).status;
      for (const [client, forged] of [
        ["198.51.100.1", "192.0.2.1"],
        ["198.51.100.2", "192.0.2.1"],
      ]) {
        expect(await statusOf(gateway, `${forged}, ${client}`)).toBe(200);
        expect(await statusOf(gateway, `${client}`)).toBe(200);
        expect(await statusOf(gateway, `${client}`)).toBe(429);
      }
      expect(await statusOf("127.0.0.4", "198.51.100.3")).toBe(200);
      expect(await statusOf("127.0.0.4", "198.51.100.4")).toBe(200);
      expect(await statusOf("127.0.0.4", "198.51.100.5")).toBe(429);
    });

    it("a balancer hides /metrics in every spelling of the path", async () => {
      const send = await startBalancer();
      expect((await server.send("GET /metrics")).status).toBe(200);
      for (const path of ["/metrics", "/metrics?x=1", "/%6detrics", "/%6D%65trics?x=1"]) {
        expect([path, (await send(path, "127.0.0.5")).status]).toEqual([path, 403]);
      }
      for (const path of ["/./metrics", "/%2e/metrics", "//metrics", "/%256detrics", "/metrics;x"]) {
        for (const written of [path, `https://127.0.0.1${path}`]) {
          const { body } = await send(written, "127.0.0.5");
          expect([written, /^accountlink_/m.test(body)]).toEqual([written, false]);
        }
      }
      expect((await send("/healthz", "127.0.0.5")).status).toBe(200);
    });

    it.runIf(isChecked)("a balancer limits the connections of one address", async () => {
      const send = await startBalancer(cappedAt(2));
      const left = new AbortController();
      const openRead = async () => {
        const made = await server.send("POST /v2/sessions", { key, body: { clientId: "c" } });
        const sid = textOf(made.body.data?.sid);
        return send(`/v2/sessions/${sid}?wait=25`, "127.0.0.6", { signal: left.signal }).catch(() => null);
      };
      const reads = [openRead(), openRead()];
      await eventually(async () =>
        expect((await server.send("GET /metrics")).text).toContain("accountlink_session_reads_open 2\n"),
      );
      await expect(send("/healthz", "127.0.0.6")).rejects.toThrow(
        /ECONNRESET|EPIPE|socket hang up|disconnected/,
      );
      expect((await send("/healthz", "127.0.0.7")).status).toBe(200);
      left.abort();
      await Promise.all(reads);
      await eventually(async () => expect((await send("/healthz", "127.0.0.6")).status).toBe(200));
    });

    // nginx makes no checks of its own.
    const withoutOutage = withoutPostgres ?? (isChecked ? null : "(in the proof)");
    it.skipIf(withoutOutage !== null)(
      `a balancer passes on /readyz of servers that are not ready ${withoutOutage ?? ""}`,
      async () => {
        const database = await run(makePostgresDatabase());
        const way = await run(startProxy(Number(new URL(database.url).port)));
        const node = await startServerHere({
          fixture: fixtures.fixture,
          env: storageAt(throughProxy(database.url, way)),
        });
        onTestFinished(async () => void (await node.stop()));
        const send = await startBalancer(checksAreQuick, node.url);
        await eventually(async () => expect((await send("/readyz", "127.0.0.8")).status).toBe(200));
        await run(way.cut);
        await eventually(async () => expect((await node.send("GET /readyz")).status).toBe(503));

        // HAProxy notices after two checks that /readyz fails. The answers must be the same before and after that.
        const noticed = performance.now() + 1_000;
        while (performance.now() < noticed) {
          const { status, body } = await send("/readyz", "127.0.0.8");
          expect({ status, body: JSON.parse(body) }).toMatchObject({
            status: 503,
            body: { failing: ["storage"] },
          });
          expect((await send("/healthz", "127.0.0.8")).status).toBe(200);
          await sleep(100);
        }
        const look = await send("/v2/chat?chatId=100001", "127.0.0.8");
        expect(JSON.parse(look.body)).toMatchObject({ status: 503, error: { code: "INTERNAL_ERROR" } });
        await run(way.restore);
      },
    );

    it.runIf(isChecked)("a balancer does not send an unanswered write to a second server", async () => {
      const makeServer = startHttpServer(({ method }) => (method === "PATCH" ? "cut" : {}));
      const nodes = await run(Effect.all([makeServer, makeServer]));
      const send = await startBalancer({}, ...nodes.map(({ url }) => url));
      await eventually(async () => expect((await send("/readyz", "127.0.0.11")).status).toBe(200));
      const { status } = await send("/v2/game", "127.0.0.11", { method: "PATCH" });
      expect([502, 503]).toContain(status);
      const heard = nodes.flatMap((node) => node.heard).filter(({ method }) => method === "PATCH");
      expect(heard).toHaveLength(1);
    });

    it("a balancer answers what is too large in the envelope", async () => {
      const send = await startBalancer();
      const refused = async (options: AskOptions) => {
        const { status, body } = await send("/v2/game", "127.0.0.12", { method: "PATCH", ...options });
        const { error, meta } = JSON.parse(body);
        expect(meta.requestId).toMatch(/^req_/);
        return [status, error.code];
      };
      for (const size of [100_000, 23_000_000]) {
        expect(await refused({ body: "1".repeat(size) })).toEqual([413, "INVALID_BODY"]);
      }
      // HAProxy has no request ID yet when it refuses such a head.
      for (const size of name === "nginx" ? [30_000] : []) {
        expect(await refused({ headers: { "x-long": "1".repeat(size) } })).toEqual([400, "BAD_REQUEST"]);
      }
    });

    it.runIf(isChecked)("a balancer answers 503 in the envelope when no server is up", async () => {
      const send = await startBalancer({}, "http://127.0.0.1:1");
      const common = { status: 503, timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/) };
      const v2 = await send("/v2/chat?chatId=100001", "127.0.0.10");
      const { "x-request-id": requestId } = v2.headers;
      expect(requestId).toMatch(/^req_[0-9a-f]{26}$/i);
      expect(JSON.parse(v2.body)).toEqual({
        ...common,
        error: { code: "INTERNAL_ERROR", message: "Service unavailable", details: null },
        meta: {
          requestId,
          version: "2.0.0",
          rateLimit: { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null },
        },
      });
      const v1 = await send("/api/v1/public/chat-to-game", "127.0.0.10");
      expect(JSON.parse(v1.body)).toEqual({
        ...common,
        error: "Service unavailable",
        version: "1.0.0",
        requestsRemaining: null,
        ipRequestsRemaining: null,
      });
      for (const { status, headers } of [v1, v2]) {
        expect({ status, retryAfter: headers["retry-after"], type: headers["content-type"] }).toEqual({
          status: 503,
          retryAfter: "1",
          type: "application/json",
        });
      }
    });
  });
}
