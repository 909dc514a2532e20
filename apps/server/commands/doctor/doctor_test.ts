import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import {
  type HttpAnswer,
  listenLocally,
  makePostgresUser,
  runUntil,
  startHttpServer,
} from "@accountlink/test-servers";
import { Effect, Struct } from "effect";
import { expect, it, onTestFinished, vi } from "vitest";
import { startDiscord } from "../chat/test_discord.ts";
import { runInProcess } from "../test_command_line.ts";
import { embeddedIn, inDatabase, makeWorkplace } from "../test_program.ts";
import { makeShared, whyNothingShared } from "../test_shared.ts";

const missing = await whyNothingShared();

const findingsIn = async (
  environment: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
): Promise<string> => (await (await makeWorkplace(environment)).run("doctor", ...args)).stdout;

it("the doctor finds no problem in a new deployment, and creates nothing", async () => {
  const { run, dataFolder } = await makeWorkplace();
  const { code, stdout, stderr } = await run("doctor");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toMatch(/^(warn|fail)/m);
  expect(existsSync(dataFolder)).toBe(false);
});

it("the doctor reports a folder and a secret that others can read, and a damaged database, as `serve` does", async () => {
  const { json, run, dataFolder } = await makeWorkplace();
  await json("migrate");
  chmodSync(dataFolder, 0o755);
  chmodSync(join(dataFolder, "secret"), 0o644);
  expect(await run("doctor")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^warn +data folder .* \(mode 755\)$[^]*^warn +secret .* \(mode 644\)$/m),
  });
  const database = join(dataFolder, "accountlink.db");
  inDatabase(database, "DROP TABLE blocks");
  expect((await run("doctor")).stdout).toMatch(/^fail +database +it has no table blocks\n +Restore it/m);
  writeFileSync(database, "not a database, and long enough to be read".repeat(99));
  expect(await json("doctor")).toMatchObject({ failed: 1 });
  expect((await run("doctor")).stdout).toMatch(/file is not a database\s+Restore it from a backup/);
  const refused = `Cannot use database "${database}": file is not a database\n`;
  const served = await run("serve");
  expect(served).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(refused) });
  expect(served.stderr).toMatch(/is open to others \(mode 755\)[^]*is open to others \(mode 644\)/);
});

it("the doctor warns of a server without platforms", async () => {
  const { run } = await makeWorkplace({ ACCOUNTLINK_PLATFORM: "none" });
  const { stdout: findings } = await run("doctor");
  expect(findings).toMatch(/^ok +platform +none is asked$/m);
  expect(findings).toMatch(/^warn +configuration +ACCOUNTLINK_PLATFORM is none, /m);
});

it("the doctor reports the same warnings, missing variables and unusable files as `serve`", async () => {
  const { file } = await makeWorkplace();
  expect(await findingsIn({ ACCOUNTLINK_PROT: "1" })).toMatch(
    /^warn +configuration +ACCOUNTLINK_PROT is set/m,
  );
  expect(await findingsIn({ ACCOUNTLINK_CACHE: "redis" })).toMatch(
    /^fail .*ACCOUNTLINK_REDIS_URL is not set/m,
  );
  const fixture = await file("fixture.json", '{ "links": [{ "scope": "global" }] }');
  expect(await findingsIn({ ACCOUNTLINK_FIXTURE: fixture })).toMatch(
    /^fail +files +ACCOUNTLINK_FIXTURE is /m,
  );
  const networks = await file("shared.txt", "198.51.100.0/24\nten\n");
  expect(await findingsIn({ ACCOUNTLINK_SHARED_NETWORKS: networks })).toMatch(/^fail +files .*line 2/m);
});

it.skipIf(missing !== null)(`the doctor reports Postgres, Redis and a server ${missing ?? ""}`, async () => {
  const { redis, environment } = await makeShared();
  const { serve } = await makeWorkplace(environment);
  expect(await findingsIn(environment)).not.toMatch(/^(warn|fail)/m);
  const { port } = new URL(await serve());
  await Effect.runPromise(redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"));
  const findings = await findingsIn({ ...environment, ACCOUNTLINK_PORT: port });
  expect(findings).toMatch(/^ok +database .* on Postgres \d+/m);
  expect(findings).toMatch(/^warn +cache .*: its maxmemory-policy is allkeys-lru$/m);
  expect(findings).toMatch(/^ok +server .*\/readyz is ready$/m);
  const noDatabase = await makeWorkplace({ ...environment, ACCOUNTLINK_REDIS_URL: `${redis.url}/99` });
  const named = "ACCOUNTLINK_REDIS_URL names database 99, ";
  expect((await noDatabase.run("doctor")).stdout).toMatch(new RegExp(`^fail +cache +${named}`, "m"));
  expect((await noDatabase.run("serve")).stderr).toContain(`Cannot start: ${named}expected a database that`);
});

it("the doctor reports that neither Postgres nor Redis answers, and that only Postgres is required", async () => {
  const findings = await findingsIn({
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: "postgres://ada:pass@127.0.0.1:1/links",
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: "redis://:pass@127.0.0.1:1",
  });
  expect(findings).toContain('fail  database       Cannot use database "127.0.0.1:1/links"');
  expect(findings).toContain('warn  cache          Cannot use Redis at "127.0.0.1:1": ECONNREFUSED');
  expect(findings).not.toContain("pass");
});

it.skipIf(missing !== null)(
  `the doctor advises what mends Redis, clocks and the rights of the database user ${missing ?? ""}`,
  async () => {
    const { redis, database, environment } = await makeShared();
    const configure = (name: string, value: string) =>
      Effect.runPromise(redis.ask("CONFIG", "SET", name, value));
    await configure("maxmemory", "1");

    const { name, urlAt } = await runUntil(onTestFinished)(makePostgresUser(database));
    const asUser = { ...environment, ACCOUNTLINK_DATABASE_URL: urlAt(database.url) };
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const findings = await findingsIn(asUser);
    expect(findings).toMatch(/^fail +database +its user may not make tables, /m);
    await runInProcess(["migrate"], environment);
    await Effect.runPromise(database.query(`GRANT CREATE ON SCHEMA public TO ${name}`));
    await Effect.runPromise(database.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${name}`));
    expect(await findingsIn(asUser)).toMatch(/^fail +database +its user may not write all of its tables$/m);
    expect(findings).toMatch(/^warn +cache .* refuses writes: OOM\n +Raise its maxmemory/m);
    for (const server of ["Postgres", "Redis"]) {
      expect(findings).toMatch(
        new RegExp(`^warn +clock +the clock of ${server} is (59|60) s behind this machine's$`, "m"),
      );
    }
    await configure("requirepass", "right");
    const refused = await findingsIn(environment);
    expect(refused).toMatch(/NOAUTH\s+Correct user and password in ACCOUNTLINK_REDIS_URL/);
  },
);

it("the doctor accepts a server of its own deployment on the port, and reports any other program", async () => {
  const { dataFolder, serve } = await makeWorkplace();
  const other = await makeWorkplace();
  const program = await runUntil(onTestFinished)(startHttpServer(() => ({ body: { status: "ready" } })));
  const serverAt = async (url: string) => {
    const ACCOUNTLINK_PORT = new URL(url).port;
    const findings = await findingsIn({ ACCOUNTLINK_DATA_DIR: dataFolder, ACCOUNTLINK_PORT });
    return /^(.*) http:.*\/readyz(.*)$/m.exec(findings)?.slice(1);
  };
  expect(await serverAt(await serve())).toEqual(["ok    server        ", " is ready"]);
  const another = ["fail  server         another program or deployment answers at", ""];
  expect(await serverAt(await other.serve())).toEqual(another);
  expect(await serverAt(program.url)).toEqual(another);
});

it("the doctor asks the live platforms and Open Cloud, and prints neither token nor key", async () => {
  const platforms = startHttpServer(({ path, headers }) => {
    if (!path.startsWith("/apis/cloud/v2/users/")) return { status: 500 };
    return headers["x-api-key"] === "right-key"
      ? { body: { id: "1", name: "Roblox" } }
      : { status: 401, body: { errors: [{ code: 0, message: "Invalid API Key" }] } };
  });
  const { url } = await runUntil(onTestFinished)(platforms);
  const { environment } = await startDiscord();
  const findingsWith = async (changed: Readonly<Record<string, string>>) => {
    const findings = await findingsIn({
      ...environment,
      ACCOUNTLINK_GAME_API_URL: `${url}/{service}`,
      ...changed,
    });
    expect(findings).not.toMatch(/(the|wrong)-token|(right|wrong)-key/);
    return findings;
  };
  const findings = await findingsWith({});
  expect(findings).toMatch(/^ok +chat platform +it knows the bot as "linker"$/m);
  expect(findings).toMatch(/^fail +game platform .*: the status is "500"$/m);
  expect(findings).toMatch(/^ok +game proofs +known, connection, oauth, words are on$/m);
  expect(findings).toMatch(/^ok +open cloud .*it is not asked, since ACCOUNTLINK_GAME_API_KEY is not set$/m);
  expect(await findingsWith({ ACCOUNTLINK_CHAT_BOT_TOKEN: "wrong-token" })).toMatch(
    /^fail +chat platform +it refuses ACCOUNTLINK_CHAT_BOT_TOKEN$/m,
  );
  expect(await findingsWith({ ACCOUNTLINK_GAME_API_KEY: "right-key" })).toMatch(
    /^ok +open cloud .*it answers first, then the legacy routes$/m,
  );
  expect(await findingsWith({ ACCOUNTLINK_GAME_API_KEY: "wrong-key" })).toMatch(
    /^warn +open cloud .*it refuses ACCOUNTLINK_GAME_API_KEY, /m,
  );
});

it("the doctor reports the client of another application, and one that its platform refuses", async () => {
  const { url } = await runUntil(onTestFinished)(
    startHttpServer(({ path }) =>
      path === "/apis/oauth/v1/token"
        ? { status: 401, body: { error: "invalid_client" } }
        : { body: { id: "1", name: "Roblox" } },
    ),
  );
  const { environment } = await startDiscord();
  const findings = await findingsIn({
    ...environment,
    ACCOUNTLINK_GAME_API_URL: `${url}/{service}`,
    ACCOUNTLINK_CHAT_CLIENT_ID: "900000000000000001",
  });
  expect(findings).toMatch(
    /^fail +chat platform +ACCOUNTLINK_CHAT_CLIENT_ID is "900000000000000001", but the bot is of application 816547628409595165$/m,
  );
  expect(findings).toMatch(/^fail +game sign-in +the platform refuses ACCOUNTLINK_GAME_CLIENT_ID with /m);
  expect(findings).not.toMatch(/chat sign-in|a-secret/);
});

it("the doctor asks each route of a game of one's own, says what it has, and prints no token", async () => {
  let features: HttpAnswer = { body: { features: ["names", "groups", "items", "ages"], items: ["app"] } };
  const game = startHttpServer(({ path, query, headers }): HttpAnswer => {
    if (path.startsWith("/elsewhere/")) return { status: 404 };
    if (headers.authorization !== "Bearer right-token") return { status: 401 };
    if (path === "/") return features;
    if (path === "/users/1") return { body: { id: "1", username: "ada", createdAt: "in spring" } };
    if (path === "/users/7") return { body: { id: "8", username: "eve" } };
    if (path === "/users/9")
      return { body: { id: "9", username: "Major Nelson", createdAt: "0001-01-01T00:00:00Z" } };
    if (path === "/users/9/groups") return { body: { groups: [{ id: "5" }] } };
    if (query.get("username") === "Major Nelson") return { body: { id: "9", username: "major nelson" } };
    return { status: path.startsWith("/groups/") || query.has("username") ? 404 : 500 };
  });
  const { url } = await runUntil(onTestFinished)(game);
  const { environment } = await startDiscord();
  const ofRoblox = ["ACCOUNTLINK_GAME_CLIENT_ID", "ACCOUNTLINK_GAME_CLIENT_SECRET"] as const;
  let address = url;
  const found = async (token: string, ...args: ReadonlyArray<string>) => {
    const changed = {
      ...Struct.omit(environment, ofRoblox),
      ACCOUNTLINK_GAME_URL: address,
      ACCOUNTLINK_GAME_TOKEN: token,
      ACCOUNTLINK_GAME_NAME: "Voxel",
    };
    const findings = await findingsIn(changed, ...args);
    expect(findings).not.toMatch(/(right|wrong)-token/);
    return findings.split("\n").filter((line) => /^\w+ +game /.test(line));
  };
  const failed = (route: string, why: string) =>
    expect.stringMatching(new RegExp(`^fail .* GET ${route}: .*${why}`.replaceAll("{", "\\{")));
  expect(await found("right-token")).toEqual([
    expect.stringMatching(/ok +game platform +it answers, and has names, groups, ages, items \(app\)$/),
    failed("/users/{gameId}", 'has no right "createdAt"'),
    expect.stringMatching(/^ok .* GET \/users answers that there is none$/),
    failed("/users/{gameId}/groups", 'the status is "500"'),
    expect.stringMatching(/^ok .* GET \/groups\/\{groupId\} answers that there is none$/),
    failed("/users/{gameId}/items/{item}/{itemId}", 'the status is "500"'),
    expect.stringMatching(
      /^warn +game proofs +no user can prove an account on the pages: connection needs ACCOUNTLINK_GAME_CONNECTION; /,
    ),
  ]);
  expect(await found("right-token", "--game-id", "9")).toEqual([
    expect.anything(),
    expect.stringMatching(/^ok .* GET \/users\/\{gameId\} answers$/),
    expect.stringMatching(/^ok .* GET \/users answers$/),
    expect.stringMatching(/^ok .* GET \/users\/\{gameId\}\/groups answers$/),
    expect.stringMatching(/^fail .* GET \/groups\/\{groupId\} answers 404 to what exists$/),
    expect.stringMatching(/^fail .*items/),
    expect.anything(),
  ]);
  expect(await found("right-token", "--game-id", "7")).toContainEqual(
    failed("/users/{gameId}", "id or name"),
  );
  features = { body: { features: ["names", "descriptions"] } };
  expect((await found("right-token")).at(-1)).toMatch(
    /^ok +game proofs +known, words are on; .*; oauth is off, /,
  );
  features = { status: 404 };
  expect((await found("right-token"))[0]).toMatch(/it answers, and has users alone$/);
  expect((await found("wrong-token"))[0]).toMatch(/^fail .* it refuses ACCOUNTLINK_GAME_TOKEN$/);
  address = `${url}/elsewhere`;
  expect(await found("right-token")).toContainEqual(
    expect.stringMatching(/^warn .* every answer is 404, so ACCOUNTLINK_GAME_URL may be wrong$/),
  );
});

it("the doctor compares this machine's clock with Discord's", async () => {
  const findingsAt = async (lead: number) => {
    const { environment } = await startDiscord({ date: new Date(Date.now() + lead).toUTCString() });
    return findingsIn(environment);
  };
  const clock = /^warn +clock +the clock of the chat platform is (\d+) s (ahead of|behind) this machine's/m;
  const [, seconds, side] = clock.exec(await findingsAt(360_000)) ?? [];
  expect([Math.round(Number(seconds) / 10), side]).toEqual([36, "ahead of"]);
  expect(await findingsAt(0)).not.toMatch(clock);
});

it("the doctor compares the commands and the intent of the application at the chat platform", async () => {
  const found = async (environment: Readonly<Record<string, string>>) =>
    (await findingsIn(environment)).split("\n").filter((line) => /^\w+ +(commands|joins) /.test(line));
  const unused = await startDiscord();
  expect(await found(unused.environment)).toEqual([expect.stringMatching(/^ok .* not used yet: /)]);
  const other = await startDiscord({ interactions_endpoint_url: "https://links.example/old" });
  expect(await found({ ...other.environment, ACCOUNTLINK_CHAT_GATEWAY: "on" })).toEqual([
    expect.stringMatching(/^warn .*The command "verify" differs/),
    expect.stringMatching(/^warn .* refuses to report them$/),
  ]);
  const intended = await startDiscord({ flags: 1 << 15 });
  expect(await found({ ...intended.environment, ACCOUNTLINK_CHAT_GATEWAY: "on" })).toEqual([
    expect.stringMatching(/^ok .* not used yet: /),
    expect.stringMatching(/^ok .*the chat platform reports them$/),
  ]);
});

it("the doctor tries what a start would use: backups, ports, the deployment, and a lost database", async () => {
  const { folder, dataFolder, json, run } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const silent = createServer(() => {});
  const held = await listenLocally(silent);
  onTestFinished(() => void silent.close());
  const examine = async (more: Readonly<Record<string, string>>) => {
    const { stdout } = await runInProcess(["doctor"], { ...embeddedIn(dataFolder), ...more });
    return stdout.split("\n").filter((line) => line.startsWith("fail"));
  };
  expect(await examine({ ACCOUNTLINK_BACKUP_DIR: join(folder, "a/b") })).toEqual([]);
  expect(existsSync(join(folder, "a"))).toBe(false);
  for (const [variables, problem] of [
    [{ ACCOUNTLINK_BACKUP_DIR: "/proc/backups" }, '"/proc/backups" cannot be written'],
    [{ ACCOUNTLINK_PORT: "7", ACCOUNTLINK_OPERATOR_PORT: "7" }, "are both 7"],
    [{ ACCOUNTLINK_PORT: String(held) }, "and does not answer"],
    [{ ACCOUNTLINK_DEPLOYMENT: "another" }, 'ACCOUNTLINK_DEPLOYMENT is "another", but the storage is of'],
  ] as const) {
    const found = await examine(variables);
    expect([variables, found]).toEqual([variables, [expect.stringContaining(problem)]]);
  }
  // Nothing is promised that a refused start does not make.
  for (const [settings, promised] of [
    [{}, true],
    [{ ACCOUNTLINK_DEPLOYMENT: "another" }, false],
    [{ ACCOUNTLINK_PORT: "7", ACCOUNTLINK_OPERATOR_PORT: "7" }, false],
  ] as const) {
    const { stdout } = await runInProcess(["doctor"], { ...embeddedIn(join(folder, "none")), ...settings });
    expect([settings, stdout.includes("will be made")]).toEqual([settings, promised]);
  }
  const ACCOUNTLINK_SECRET = readFileSync(join(dataFolder, "secret"), "utf8").trim();
  await rm(join(dataFolder, "accountlink.db"));
  for (const secret of [{}, { ACCOUNTLINK_SECRET }]) {
    expect(await examine(secret)).toEqual([
      expect.stringContaining("holds a secret, but its database is missing or empty"),
    ]);
  }
  expect(await run("serve")).toMatchObject({ code: 1 });
});
