import { chmodSync, existsSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { listenLocally, startHttpServer } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { makeWorkplace } from "../test_program.ts";
import { makeShared, whyNothingShared } from "../test_shared.ts";

const missing = await whyNothingShared();

interface Finding {
  readonly status: string;
  readonly check: string;
  readonly finding: string;
}

const findingsOf = (answer: Record<string, unknown>): ReadonlyArray<string> =>
  (answer["findings"] as ReadonlyArray<Finding>).map(
    ({ status, check, finding }) => `${status} ${check}: ${finding}`,
  );

/** A port that is taken until the test ends. */
const takenPort = async (): Promise<number> => {
  const server = createServer();
  onTestFinished(() => void server.close());
  return listenLocally(server);
};

describe("accountlink doctor", () => {
  it("finds nothing wrong with a deployment that is new, and makes nothing", async () => {
    const { run, dataFolder } = await makeWorkplace();
    const { code, stdout, stderr } = await run("doctor");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^ok {4}configuration {2}\d+ variables, 4 of them set$/m);
    expect(stdout).not.toMatch(/^(warn|fail)/m);
    expect(existsSync(dataFolder)).toBe(false);
  });

  it("finds every variable that is wrong or unknown", async () => {
    const { run } = await makeWorkplace({
      ACCOUNTLINK_PORT: "80a",
      ACCOUNTLINK_SESSION_TTL: "soon",
      ACCOUNTLINK_PROT: "1",
    });
    const { code, stdout } = await run("doctor");
    expect(code).toBe(1);
    expect(stdout).toContain('fail  configuration  ACCOUNTLINK_PORT is "80a", expected a port number');
    expect(stdout).toContain('fail  configuration  ACCOUNTLINK_SESSION_TTL is "soon", expected a duration');
    expect(stdout).toContain("warn  configuration  ACCOUNTLINK_PROT is set, but no such variable exists");
  });

  it("finds that the folder for uploads cannot be written", async () => {
    const { json, folder } = await makeWorkplace();
    const none = join(folder, "none");
    vi.stubEnv("TMPDIR", none);
    onTestFinished(() => void vi.unstubAllEnvs());
    const problem = `uploads need the temporary folder "${none}", which cannot be written: ENOENT`;
    expect(findingsOf(await json("doctor"))).toContainEqual(
      expect.stringContaining(`warn uploads: ${problem}`),
    );
  });

  it("finds what is open to others", async () => {
    const { json, dataFolder } = await makeWorkplace();
    await json("migrate");
    chmodSync(dataFolder, 0o755);
    chmodSync(join(dataFolder, "secret"), 0o644);
    const findings = findingsOf(await json("doctor"));
    expect(findings).toContain(`warn data folder: "${dataFolder}" is open to others (mode 755)`);
    expect(findings).toContain(`warn secret: "${join(dataFolder, "secret")}" is open to others (mode 644)`);
  });

  it("finds a secret that is gone, a clock that went back and a database that is too new", async () => {
    const { json, dataFolder } = await makeWorkplace();
    await json("migrate");
    writeFileSync(join(dataFolder, "secret"), "damaged");
    const database = new DatabaseSync(join(dataFolder, "accountlink.db"));
    database.exec("INSERT INTO schema_migrations (migration_id, name) VALUES (999, 'later')");
    database.close();
    const later = Date.now() / 1000 + 7_200;
    utimesSync(join(dataFolder, "accountlink.db"), later, later);
    const answer = await json("doctor");
    const findings = findingsOf(answer).join("\n");
    expect(answer["failed"]).toBe(3);
    expect(findings).toContain("fail secret: secret file");
    expect(findings).toMatch(/fail clock: it says .*, and the database was written 7\d\d\d s later/);
    expect(findings).toContain("has schema version 999, and this release knows");
  });

  it("tells of webhooks whose receivers do not answer", async () => {
    const { json, dataFolder } = await makeWorkplace();
    await json("keys", "create", "--account", "acme");
    expect(findingsOf(await json("doctor")).join("\n")).not.toContain("webhooks");
    await json("webhooks", "create", "--account", "acme", "--url", "https://one.example/in");
    await json("webhooks", "create", "--account", "acme", "--url", "https://two.example/in");
    expect(findingsOf(await json("doctor"))).toContain("ok webhooks: 2 made, and none fails for long");
    const database = new DatabaseSync(join(dataFolder, "accountlink.db"));
    database.exec("UPDATE webhooks SET status = 'disabled' WHERE url LIKE '%one%'");
    database.exec("UPDATE webhooks SET failing_since = created_at - 9000000 WHERE url LIKE '%two%'");
    database.close();
    expect(findingsOf(await json("doctor"))).toContain(
      "warn webhooks: 2 made, 1 disabled, one fails for 2 h",
    );
  });

  it("finds a database that is damaged", async () => {
    const { run, json, dataFolder } = await makeWorkplace();
    await json("migrate");
    writeFileSync(
      join(dataFolder, "accountlink.db"),
      "not a database, and long enough to be looked at".repeat(100),
    );
    const { code, stdout } = await run("doctor");
    expect(code).toBe(1);
    expect(stdout).toContain("fail  database       file is not a database");
  });

  it("finds a running server, and asks it when its port is known", async () => {
    const { json, serve, dataFolder } = await makeWorkplace();
    const url = await serve();
    expect(findingsOf(await json("doctor")).join("\n")).toMatch(
      /ok server: process \d+ runs, on a port that is not known/,
    );
    const under = async (port: string) => {
      const environment = { ACCOUNTLINK_DATA_DIR: dataFolder, ACCOUNTLINK_PORT: port };
      return findingsOf(await (await makeWorkplace(environment)).json("doctor")).join("\n");
    };
    expect(await under(new URL(url).port)).toMatch(/ok server: process \d+ runs and is ready/);
    expect(await under("1")).toMatch(/warn server: process \d+ runs, and does not answer at .*ECONNREFUSED/);
  });

  it("finds a port that is taken", async () => {
    const port = await takenPort();
    const { json } = await makeWorkplace({ ACCOUNTLINK_PORT: String(port) });
    expect(findingsOf(await json("doctor")).join("\n")).toMatch(
      /fail server: none runs, and it could not listen: .*EADDRINUSE/,
    );
  });

  it("tells the server of another deployment, and what is none, from its own", async () => {
    const url = await (await makeWorkplace()).serve();
    const { port } = new URL(url);
    const { dataFolder, json, serve } = await makeWorkplace({ ACCOUNTLINK_PORT: port });
    const another = `fail server: ${url}/readyz is answered by a server of another deployment`;
    expect(findingsOf(await json("doctor"))).toContain(another);
    const own = await makeWorkplace({ ACCOUNTLINK_DATA_DIR: dataFolder });
    await own.serve();
    expect(findingsOf(await json("doctor"))).toContain(another);
    await expect(serve()).rejects.toThrow(/in use/);

    const scope = Scope.makeUnsafe();
    onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)));
    const stranger = await Effect.runPromise(
      Scope.provide(
        startHttpServer(() => ({ body: {} })),
        scope,
      ),
    );
    const beside = await makeWorkplace({ ACCOUNTLINK_PORT: new URL(stranger.url).port });
    expect(findingsOf(await beside.json("doctor")).join("\n")).toMatch(
      /fail server: .*\/readyz is answered by something else than a server of accountlink/,
    );
  });

  it("finds that a fixture cannot be loaded", async () => {
    const { file } = await makeWorkplace();
    const fixture = await file("fixture.json", '{ "links": [{ "scope": "global" }] }');
    const { json } = await makeWorkplace({ ACCOUNTLINK_FIXTURE: fixture });
    expect(findingsOf(await json("doctor")).join("\n")).toMatch(
      /fail fixture: ".*\/fixture.json": .*links\[0\]/,
    );
  });
});

describe.skipIf(missing !== null)(`accountlink doctor on Postgres and Redis ${missing ?? ""}`, () => {
  it("counts the networks of lists, and finds what is wrong with them", async () => {
    const { file } = await makeWorkplace();
    const { json } = await makeWorkplace({
      ACCOUNTLINK_VPN_NETWORKS: await file("vpn.txt", "198.51.100.0/24\n203.0.113.7\n"),
      ACCOUNTLINK_SHARED_NETWORKS: await file("shared.txt", "198.51.100.0/24\nten\n"),
    });
    const findings = findingsOf(await json("doctor")).join("\n");
    expect(findings).toMatch(/ok networks: ".*vpn.txt" has 2 networks/);
    expect(findings).toMatch(
      /fail networks: Cannot use ".*shared.txt": line 2 is wrong, expected an address/,
    );
  });

  it("finds them, and changes nothing", async () => {
    const { database, redis, environment } = await makeShared();
    const { json, serve } = await makeWorkplace(environment);
    const before = await json("doctor");
    expect(before["failed"]).toBe(0);
    const location = database.url.slice(database.url.indexOf("@") + 1);
    expect(findingsOf(before)).toEqual([
      expect.stringMatching(/^ok configuration: /),
      expect.stringMatching(/^ok platform: /),
      "ok secret: ACCOUNTLINK_SECRET is set",
      "ok root key: there is none yet, and one will be made",
      expect.stringMatching(
        `^ok database: "${location}" on Postgres \\d+\\.\\d+ is empty, and its schema will be made$`,
      ),
      "ok events: there are none yet",
      expect.stringMatching(`^ok cache: Redis \\d+\\.\\d+\\.\\d+ at "127.0.0.1:${redis.port}" answers$`),
      "ok uploads: the temporary folder can be written, and has room",
      expect.stringMatching(/^ok server: none runs, and it could listen on /),
    ]);
    await serve();
    await Effect.runPromise(redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"));
    const findings = findingsOf(await json("doctor")).join("\n");
    expect(findings).toMatch(/ok database: .* on Postgres \d+\.\d+ answers, schema version \d+/);
    expect(findings).toMatch(
      /warn cache: .* may forget what limits count: its maxmemory-policy is allkeys-lru/,
    );
  });

  it("finds a running server on its port", async () => {
    const { environment } = await makeShared();
    const url = await (await makeWorkplace(environment)).serve();
    const { port } = new URL(url);
    const { json } = await makeWorkplace({ ...environment, ACCOUNTLINK_PORT: port });
    expect(findingsOf(await json("doctor"))).toContain("ok server: one runs and is ready");
  });
});

describe("accountlink doctor on live platforms", () => {
  const token = "the-token-of-the-bot";

  /** What it finds of them, asking a server that knows the token. */
  const findingsWith = async (botToken: string) => {
    const scope = Scope.makeUnsafe();
    onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)));
    const platforms = startHttpServer(({ path, headers }) => {
      if (path !== "/chat/users/@me") return { status: 500 };
      return headers.authorization === `Bot ${token}`
        ? { body: { id: "175928847299117063", username: "linker" } }
        : { status: 401, body: { code: 0, message: "401: Unauthorized" } };
    });
    const { url } = await Effect.runPromise(Scope.provide(platforms, scope));
    const { json } = await makeWorkplace({
      ACCOUNTLINK_PLATFORM: "live",
      ACCOUNTLINK_PUBLIC_URL: "http://links.example",
      ACCOUNTLINK_CHAT_BOT_TOKEN: botToken,
      ACCOUNTLINK_CHAT_CLIENT_ID: "1",
      ACCOUNTLINK_CHAT_CLIENT_SECRET: "secret",
      ACCOUNTLINK_CHAT_API_URL: `${url}/chat`,
      ACCOUNTLINK_GAME_CLIENT_ID: "2",
      ACCOUNTLINK_GAME_CLIENT_SECRET: "secret",
      ACCOUNTLINK_GAME_API_URL: `${url}/{service}`,
    });
    return findingsOf(await json("doctor")).join("\n");
  };

  it("finds the bot, what does not answer, and an address that is not https", async () => {
    const findings = await findingsWith(token);
    expect(findings).toContain('warn configuration: ACCOUNTLINK_PUBLIC_URL is "http://links.example"');
    expect(findings).toContain("ok platform: live, and users come back to http://links.example");
    expect(findings).toContain('ok chat platform: it knows the bot as "linker"');
    expect(findings).toContain('fail game platform: Cannot ask the platform: the status is "500"');
  });

  it("finds a token that is refused, and does not show it", async () => {
    const findings = await findingsWith("another-token");
    expect(findings).toContain("fail chat platform: it refuses ACCOUNTLINK_CHAT_BOT_TOKEN");
    expect(findings).not.toContain("another-token");
  });
});

describe("accountlink doctor without what servers share", () => {
  it("finds that neither Postgres nor Redis answers, and which of them stops the server", async () => {
    const { run } = await makeWorkplace({
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: "postgres://ada:pass@127.0.0.1:1/links",
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: "redis://:pass@127.0.0.1:1",
    });
    const { code, stdout } = await run("doctor");
    expect(code).toBe(1);
    expect(stdout).toContain("fail  secret         ACCOUNTLINK_SECRET is not set");
    expect(stdout).toContain('fail  database       Cannot use database "127.0.0.1:1/links"');
    expect(stdout).toContain('warn  cache          Cannot use Redis at "127.0.0.1:1": ECONNREFUSED');
    expect(stdout).not.toContain("pass");
  });

  it("finds every address that is missing, and limits that each server counts for itself", async () => {
    const without = await makeWorkplace({ ACCOUNTLINK_STORAGE: "postgres", ACCOUNTLINK_CACHE: "redis" });
    const findings = findingsOf(await without.json("doctor")).join("\n");
    expect(findings).toContain("fail storage: ACCOUNTLINK_DATABASE_URL is not set");
    expect(findings).toContain("fail cache: ACCOUNTLINK_REDIS_URL is not set");
    const alone = await makeWorkplace({ ACCOUNTLINK_STORAGE: "postgres" });
    expect(findingsOf(await alone.json("doctor")).join("\n")).toContain(
      "warn cache: memory: each server of the database counts limits for itself alone",
    );
  });
});
