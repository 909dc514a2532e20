/**
 * docs/operators_day.md: its commands, in their order, on three nodes behind haproxy.cfg, with
 * clients at work all day.
 */
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  makePostgresDatabase,
  type PostgresDatabase,
  type RedisServer,
  startPrometheus,
  startRedis,
  whyNoPostgresDatabase,
  whyNoPrometheus,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { blocksOf, readDocument } from "../docs/document.ts";
import { hasProgram, runShell } from "../docs/shell.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { formOf, openBrowser, titleOf } from "../support/flow_browser.ts";
import { makeClient, textOf } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import { rowsOf } from "../support/storage.ts";
import { balancers, readExample } from "./balancers.ts";
import { makeNextRelease } from "./next_release.ts";
import { type Hosts, makeHosts } from "./played_hosts.ts";
import { lostOf, startClients } from "./rolling_restarts.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const day = blocksOf(readDocument("docs/operators_day.md")).map(({ text }) => text);
const [settings, state, refusal, rotation, release, person] = day;
const scraped =
  blocksOf(readDocument("docs/operating.md")).find(({ text }) => text.includes("scrape_configs"))?.text ?? "";

const haproxy = balancers.find(({ name }) => name === "haproxy") as (typeof balancers)[number];

const whyNoDay = async (): Promise<string | null> => {
  for (const whyNone of [whyNoPostgresDatabase, whyNoRedis, whyNoPrometheus, haproxy.whyNone]) {
    const reason = await whyNone();
    if (reason !== null) return reason;
  }
  for (const program of ["curl", "jq", "openssl"]) {
    if (!(await hasProgram(program))) return `without ${program}`;
  }
  return process.platform === "linux" ? null : "without the addresses of Linux";
};
const missing = await whyNoDay();

const numbers = [1, 2, 3];

/** A user who is not among those of the clients. */
const user = "100040";
const clientCount = 4;

describe.skipIf(missing !== null)(`docs/operators_day.md ${missing ?? ""}`, () => {
  const scope = Scope.makeUnsafe();
  const run = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) =>
    Effect.runPromise(Scope.provide(effect, scope));
  const fixtures = makeFixtures();
  const key = fixtures.key();
  let folder = "";
  let database: PostgresDatabase;
  let redis: RedisServer;
  let hosts: Hosts;
  let clients: ReturnType<typeof startClients>;
  /** The command line of the operator, who has the checkout of the newest release. */
  let program: string;
  /** What the blocks name, and what it is here. */
  const places: Array<readonly [documented: string, here: string]> = [["100001", user]];

  const here = (text: string) =>
    hosts.here(places.reduce((changed, [documented, place]) => changed.replaceAll(documented, place), text));

  /** Types a block into a shell that was given the first one. */
  const type = (block = "") =>
    runShell(here(`${settings}\n${block}`), {
      cwd: folder,
      env: {
        // For the certificate of a test, which vouches for itself.
        CURL_HOME: folder,
        PATH: [hosts.programs, process.env["PATH"]].join(delimiter),
        KEY: key,
      },
      program,
    });

  /** The rows that name somebody. The feed tells its readers for 7 days whom to erase. */
  const rowsWith = async (text: string) =>
    (await run(rowsOf(database))).filter((row) => row.includes(text) && !row.includes("user.erased"));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "accountlink-day-"));
    await writeFile(join(folder, ".curlrc"), "insecure\n");
    database = await run(makePostgresDatabase());
    redis = await run(startRedis());
    const next = join(folder, "next");
    await makeNextRelease(next);
    program = join(root, "apps/server/main.ts");
    const fixture = join(folder, "fixture.json");
    await writeFile(fixture, JSON.stringify(fixtures.fixture));
    const variables = Object.entries({
      ACCOUNTLINK_OPERATOR_PORT: "9090",
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: database.url,
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: redis.url,
      ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_FIXTURE: fixture,
      ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.0/8",
      ACCOUNTLINK_IP_PER_SECOND: "0",
      // Longer than haproxy.cfg takes to notice.
      ACCOUNTLINK_DRAIN_DELAY: "3 seconds",
      ACCOUNTLINK_IDLE_TIMEOUT: "1 minute",
    })
      .map(([name, value]) => `${name}="${value}"\n`)
      .join("");
    await writeFile(join(folder, "accountlink.env"), variables);
    hosts = await makeHosts({ numbers, operator: 9 });
    for (const number of numbers) await installOn(hosts.rootOf(number), { next, variables });
    for (const number of numbers) {
      await hosts.control(number, "start accountlink");
      await vi.waitFor(() => expect(hosts.journalOf(number)).toContain("listening on "), patience);
    }

    const port = await run(haproxy.start({ servers: numbers.map((n) => `${hosts.addressOf(n)}:8080`) }));
    const { targets } = parse(here(scraped)).scrape_configs[0].static_configs[0];
    // Nobody waits here for a minute to see whether it lasts.
    const rules = readExample("alerts.yml").replaceAll(/for: \w+/g, "for: 1s");
    const prometheus = await run(startPrometheus({ targets, rules }));
    places.push(
      ["http://10.0.0.9:9090", prometheus.url],
      ["https://links.example.com", `https://127.0.0.1:${port}`],
    );
    clients = startClients(`https://127.0.0.1:${port}`, key, clientCount);
  }, 120_000);

  afterAll(async () => {
    await clients?.stop();
    await hosts?.close();
    await Effect.runPromise(Scope.close(scope, Exit.void));
    await rm(folder, { recursive: true });
  });

  it("begins with all nodes scraped, and nothing wrong", async () => {
    const expected = numbers.map((number) => `${hosts.addressOf(number)}:9090 up 1`);
    await vi.waitFor(async () => {
      const lines = (await type(state)).trim().split("\n");
      expect(lines.slice(0, 3).toSorted()).toEqual(expected);
      expect(lines.slice(3).map((line) => JSON.parse(line))).toEqual(
        expected.map(() => ({ status: "ready", deployment: expect.any(String) })),
      );
    }, patience);
  });

  it("shows an alert while Redis is down, with what to do, and no more when it is back", async () => {
    await run(redis.kill);
    await vi.waitFor(async () => {
      const printed = await type(state);
      expect(printed.match(/^\S+ firing AccountlinkRedisDown: Get Redis back; .*$/gm)).toHaveLength(3);
      expect(printed.match(/"degraded":\["redis"\]/g)).toHaveLength(3);
    }, patience);
    await run(redis.restart);
    await vi.waitFor(async () => {
      const printed = await type(state);
      expect(printed).not.toMatch(/ firing AccountlinkRedisDown|degraded/);
    }, patience);
  });

  it("finds why a user was refused, by the request id on the page", async () => {
    const { send, close } = makeClient(`http://${hosts.addressOf(2)}:8080`);
    const { body } = await send("POST /v2/sessions", { key, body: { clientId: "day", chatId: user } });
    close();
    const address = new URL(textOf(body["data"]?.["url"]));
    // Each node plays platforms of its own, so this browser stays with one.
    const browser = openBrowser(() => address.origin, fixtures.address());
    const refused = await browser.prove("chat", "100039", address.search);
    const [, requestId = ""] = /Request <code>(\w+)<\/code>/.exec(refused.text) ?? [];
    expect(requestId).toMatch(/^req_/);

    const steps = (await type(refusal?.replaceAll(/req_\w+/g, requestId))).trim().split("\n");
    expect(steps.map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "chat_started ok",
      "chat_proven wrong_user",
    ]);

    // The user comes back with the right account.
    const asking = await browser.walk(address.search, user, "4");
    const done = await browser.post("/verify/confirm", formOf(asking));
    expect([done.status, titleOf(done.text)]).toEqual([200, "Your accounts are linked"]);
    browser.close();
  });

  it("rotates the secret", async () => {
    const secrets = async () =>
      Promise.all([
        readFile(join(folder, "accountlink.env"), "utf8"),
        run(database.query("SELECT * FROM root_key")),
      ]);
    const [before, wrappedBefore] = await secrets();
    await type(rotation);
    const [after, wrappedAfter] = await secrets();
    expect(after).not.toBe(before);
    expect(wrappedAfter).not.toEqual(wrappedBefore);
    expect(hosts.exitCodes).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("brings a new release to all nodes", async () => {
    await type(release);
    program = join(folder, "next/apps/server/main.ts");
    const version = await run(
      database.query("SELECT max(migration_id)::int AS version FROM schema_migrations"),
    );
    expect(version).toEqual([{ version: 999 }]);
    expect(hosts.exitCodes.slice(6)).toEqual([0, 0, 0]);
  });

  it("gives a user all data, and forgets the user", async () => {
    expect(await rowsWith(user)).not.toEqual([]);
    const printed = await type(person);
    expect(printed).toMatch(/LINK_NOT_FOUND\n$/);
    expect(JSON.parse(await readFile(join(folder, "user.json"), "utf8"))).toMatchObject({
      chatId: user,
      records: [{ gameId: "4" }],
      sightings: [{ address: expect.stringMatching(/^198\.18\./) }],
      sessions: [{ clientId: "day" }],
    });
    expect(await rowsWith(user)).toEqual([]);
  });

  it("failed no request of the clients", async () => {
    expect(await clients.stop()).toBeGreaterThan(50);
    expect(lostOf(clients)).toEqual([]);
  });
});

const installOn = async (
  place: string,
  { next, variables }: { readonly next: string; readonly variables: string },
) => {
  await symlink(root, join(place, "opt/accountlink-1.0"));
  await symlink(next, join(place, "opt/accountlink-1.1"));
  await symlink("accountlink-1.0", join(place, "opt/accountlink"));
  await writeFile(join(place, "etc/accountlink/accountlink.env"), variables, { mode: 0o600 });
  const unit = "accountlink.service";
  await cp(join(root, "deploy", unit), join(place, "etc/systemd/system", unit));
};
