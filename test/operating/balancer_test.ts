/** deploy/haproxy.cfg at work: whom the server takes a client for, and what stays inside. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { makeCertificate, startHaproxy, whyNoCertificate, whyNoHaproxy } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { blocksOf, readDocument } from "../docs/document.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";

const deploy = new URL("../../deploy/", import.meta.url);
const config = readFileSync(new URL("haproxy.cfg", deploy), "utf8");
const { services, networks } = parse(readFileSync(new URL("compose.yaml", deploy), "utf8"));
const [subnet] = networks.front.ipam.config;

/** The line of docs/operating.md for a balancer behind another proxy. */
const keepsForwarded =
  blocksOf(readDocument("docs/operating.md")).find(({ language }) => language === "haproxy")?.text ?? "";

describe("deploy/haproxy.cfg", () => {
  it("is for the services of compose.yaml", () => {
    const [, port] = /^ {2}bind :(\d+) ssl crt (\S+)$/m.exec(config) ?? [];
    expect(services.balancer.ports).toEqual([`0.0.0.0:443:${port}`]);
    expect(config).toContain(`crt /run/secrets/${services.balancer.secrets[0]}\n`);
    expect(config).toContain(
      `server-template node ${services.accountlink.deploy.replicas} accountlink:8080 `,
    );
    expect(services.accountlink.environment.ACCOUNTLINK_TRUSTED_PROXIES).toBe(subnet.subnet);
    expect(keepsForwarded).toContain(`{ src ${subnet.gateway} }`);
  });
});

// Clients are told apart by addresses of this machine, of which only Linux has more than one.
const missing =
  process.platform === "linux"
    ? ((await whyNoHaproxy()) ?? (await whyNoCertificate()))
    : "without the addresses of Linux";

describe.skipIf(missing !== null)(`deploy/haproxy.cfg at work ${missing ?? ""}`, () => {
  /** The address from which the balancer asks the server, in place of the network of compose.yaml. */
  const balancer = "127.0.0.1";
  const gateway = "127.0.0.9";
  const perDay = 2;

  const scope = Scope.makeUnsafe();
  const world = makeWorld();
  const key = world.key({ limits: "none", links: { 100001: "1" } });
  let server: RunningServer;
  let certificate = "";

  beforeAll(async () => {
    server = await startServer({
      fixture: world.fixture,
      env: { ACCOUNTLINK_TRUSTED_PROXIES: `${balancer},${gateway}`, ACCOUNTLINK_IP_DAILY: `${perDay}` },
    });
    const made = await Effect.runPromise(Scope.provide(makeCertificate, scope));
    certificate = made.certificate;
    await appendFile(certificate, await readFile(made.key));
  });
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void));
    await server.stop();
  });

  /** Starts the balancer of the example, with this machine in place of the containers, and gives a client of it. */
  const startBalancer = async (example: string) => {
    const port = await Effect.runPromise(
      Scope.provide(
        startHaproxy((free) =>
          replaced(example, {
            // This process may not open that many files everywhere.
            "maxconn 10000": "maxconn 100",
            "bind :8443": `bind 127.0.0.1:${free}`,
            "/run/secrets/certificate.pem": certificate,
            "server-template node 3 accountlink:8080 resolvers compose init-addr none": `server node ${new URL(server.url).host}`,
          }),
        ),
        scope,
      ),
    );
    return (path: string, { from, says }: { readonly from: string; readonly says?: string }) =>
      get({
        port,
        path,
        localAddress: from,
        headers: {
          authorization: `Bearer ${key}`,
          ...(says === undefined ? {} : { "x-forwarded-for": says }),
        },
      });
  };

  it("lets every client have limits of its own, whatever it says of itself", async () => {
    const ask = await startBalancer(config);
    const statuses: Array<number | undefined> = [];
    for (let day = 0; day <= perDay; day++) {
      const says = `203.0.113.${day}`;
      statuses.push((await ask("/v2/chat?chatId=100001", { from: "127.0.0.2", says })).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    expect((await ask("/v2/chat?chatId=100001", { from: "127.0.0.3" })).status).toBe(200);
  });

  it("takes the word of a proxy before it, and of nobody else, with the documented line", async () => {
    const ask = await startBalancer(
      replaced(config, {
        "http-request del-header X-Forwarded-For": keepsForwarded.trim().replace(subnet.gateway, gateway),
      }),
    );
    const statusOf = async (from: string, says: string) =>
      (await ask("/v2/chat?chatId=100001", { from, says })).status;
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

  it("hides /metrics, however it is written", async () => {
    const ask = await startBalancer(config);
    expect((await server.send("GET /metrics")).status).toBe(200);
    for (const path of ["/metrics", "/metrics?x=1", "/%6detrics", "/%6D%65trics?x=1"]) {
      expect([path, (await ask(path, { from: "127.0.0.5" })).status]).toEqual([path, 403]);
    }
    for (const path of ["/./metrics", "/%2e/metrics", "//metrics", "/%256detrics", "/metrics;x"]) {
      for (const written of [path, `https://127.0.0.1${path}`]) {
        const { body } = await ask(written, { from: "127.0.0.5" });
        expect([written, /^accountlink_/m.test(body)]).toEqual([written, false]);
      }
    }
    expect((await ask("/healthz", { from: "127.0.0.5" })).status).toBe(200);
  });
});

/** The text with each of these in place of the other, all of which have to be in it. */
const replaced = (whole: string, changes: Readonly<Record<string, string>>): string => {
  let changed = whole;
  for (const [from, to] of Object.entries(changes)) {
    expect(changed).toContain(from);
    changed = changed.replace(from, to);
  }
  return changed;
};

const get = async (options: {
  readonly port: number;
  readonly path: string;
  readonly localAddress: string;
  readonly headers: Readonly<Record<string, string>>;
}) => {
  // The certificate vouches for itself.
  const outgoing = request({ host: "127.0.0.1", rejectUnauthorized: false, agent: false, ...options }).end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: incoming.statusCode, body: await text(incoming) };
};
