import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runUntil, startHttpServer } from "@accountlink/test-servers";
import { Effect } from "effect";
import { expect, it, onTestFinished, vi } from "vitest";
import { startDiscord } from "../chat/test_discord.ts";
import { makeWorkplace } from "../test_program.ts";
import { makeShared, whyNothingShared } from "../test_shared.ts";

const missing = await whyNothingShared();

const findingsIn = async (environment: Readonly<Record<string, string>>): Promise<string> =>
  (await (await makeWorkplace(environment)).run("doctor")).stdout;

it("the doctor finds no problem in a new deployment, and creates nothing", async () => {
  const { run, dataFolder } = await makeWorkplace();
  const { code, stdout, stderr } = await run("doctor");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toMatch(/^(warn|fail)/m);
  expect(existsSync(dataFolder)).toBe(false);
});

it("the doctor reports a folder and a secret that others can read, and a damaged database", async () => {
  const { json, run, dataFolder } = await makeWorkplace();
  await json("migrate");
  chmodSync(dataFolder, 0o755);
  chmodSync(join(dataFolder, "secret"), 0o644);
  expect(await run("doctor")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^warn +data folder .* \(mode 755\)$[^]*^warn +secret .* \(mode 644\)$/m),
  });
  writeFileSync(join(dataFolder, "accountlink.db"), "not a database, and long enough to be read".repeat(99));
  const { findings, failed } = await json("doctor");
  expect(failed).toBe(1);
  expect(JSON.stringify(findings)).toContain("file is not a database");
});

it("the doctor and other commands report a data folder or a database that their user cannot use", async () => {
  const { folder, file } = await makeWorkplace();
  const inFile = join(await file("file", ""), "data");
  // Tests may run as root, who can open every file except a link to itself.
  await symlink("accountlink.db", join(folder, "accountlink.db"));
  for (const ACCOUNTLINK_DATA_DIR of [inFile, folder]) {
    const { run } = await makeWorkplace({ ACCOUNTLINK_DATA_DIR });
    const unusable = `ACCOUNTLINK_DATA_DIR is "${ACCOUNTLINK_DATA_DIR}", expected a folder that can be `;
    expect((await run("doctor")).stdout).toContain(`fail  data folder    ${unusable}`);
    expect((await run("keys", "list", "--account", "acme")).stderr).toContain(unusable);
    expect((await run("serve")).stderr).toContain(unusable);
  }
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

it("the doctor advises what mends a folder that is a file, and a damaged database", async () => {
  const { file } = await makeWorkplace();
  const ACCOUNTLINK_DATA_DIR = await file("a_file", "");
  expect(await findingsIn({ ACCOUNTLINK_DATA_DIR })).toContain("Name a folder in ACCOUNTLINK_DATA_DIR");
  const damaged = await makeWorkplace();
  await mkdir(damaged.dataFolder);
  await writeFile(join(damaged.dataFolder, "accountlink.db"), "This was never a database. ".repeat(400));
  const { stdout } = await damaged.run("doctor");
  expect(stdout).toMatch(/file is not a database\s+Restore it from a backup/);
});

it.skipIf(missing !== null)(`the doctor advises to correct the login of Redis ${missing ?? ""}`, async () => {
  const { redis, environment } = await makeShared();
  const setPassword = (text: string) => Effect.runPromise(redis.ask("CONFIG", "SET", "requirepass", text));
  await setPassword("right");
  const findings = await findingsIn(environment);
  await setPassword("");
  expect(findings).toMatch(/NOAUTH\s+Correct user and password in ACCOUNTLINK_REDIS_URL/);
});

it.skipIf(missing !== null)(
  `the doctor warns of a full Redis and of clocks that differ ${missing ?? ""}`,
  async () => {
    const { redis, environment } = await makeShared();
    await Effect.runPromise(redis.ask("CONFIG", "SET", "maxmemory", "1"));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const findings = await findingsIn(environment);
    expect(findings).toMatch(/^warn +cache .* refuses writes: OOM\n +Raise its maxmemory/m);
    for (const server of ["Postgres", "Redis"]) {
      expect(findings).toMatch(
        new RegExp(`^warn +clock +the clock of ${server} is (59|60) s behind this machine's$`, "m"),
      );
    }
    const missingDatabase = { ...environment, ACCOUNTLINK_REDIS_URL: `${redis.url}/99` };
    expect(await findingsIn(missingDatabase)).toMatch(
      /^fail +cache +ACCOUNTLINK_REDIS_URL names database 99, /m,
    );
  },
);

it.skipIf(missing !== null)(
  `the doctor reports a user who may not make tables ${missing ?? ""}`,
  async () => {
    const { database, environment } = await makeShared();
    const user = `reader_${crypto.randomUUID().replaceAll("-", "")}`;
    await Effect.runPromise(database.query(`CREATE ROLE ${user} LOGIN PASSWORD 'word'`));
    onTestFinished(async () => void (await Effect.runPromise(database.query(`DROP ROLE ${user}`))));
    const url = Object.assign(new URL(database.url), { username: user, password: "word" });
    const findings = await findingsIn({ ...environment, ACCOUNTLINK_DATABASE_URL: String(url) });
    expect(findings).toMatch(/^fail +database +its user may not make tables, /m);
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

it("the doctor asks the live platforms, and does not print the token", async () => {
  const platforms = startHttpServer(({ path, headers }) => {
    if (path !== "/chat/users/@me") return { status: 500 };
    return headers.authorization === "Bot right-token"
      ? { body: { id: "175928847299117063", username: "linker" } }
      : { status: 401, body: { code: 0, message: "401: Unauthorized" } };
  });
  const { url } = await runUntil(onTestFinished)(platforms);
  const findingsWith = (botToken: string) =>
    findingsIn({
      ACCOUNTLINK_PLATFORM: "live",
      ACCOUNTLINK_PUBLIC_URL: "https://links.example",
      ACCOUNTLINK_CHAT_BOT_TOKEN: botToken,
      ACCOUNTLINK_CHAT_CLIENT_ID: "1",
      ACCOUNTLINK_CHAT_CLIENT_SECRET: "secret",
      ACCOUNTLINK_CHAT_API_URL: `${url}/chat`,
      ACCOUNTLINK_GAME_CLIENT_ID: "2",
      ACCOUNTLINK_GAME_CLIENT_SECRET: "secret",
      ACCOUNTLINK_GAME_API_URL: `${url}/{service}`,
    });
  const findings = await findingsWith("right-token");
  expect(findings).toMatch(/^ok +chat platform +it knows the bot as "linker"$/m);
  expect(findings).toMatch(/^fail +game platform .*: the status is "500"$/m);
  expect(findings).toMatch(/^ok +game proofs +connection, oauth, words are on$/m);
  const refused = await findingsWith("wrong-token");
  expect(refused).toMatch(/^fail +chat platform +it refuses ACCOUNTLINK_CHAT_BOT_TOKEN$/m);
  expect(refused).not.toContain("wrong-token");
});

it("the doctor asks Open Cloud with the key, which it does not print", async () => {
  const platforms = startHttpServer(({ path, headers }) => {
    if (!path.startsWith("/apis/cloud/v2/users/")) return { status: 500 };
    return headers["x-api-key"] === "right-key"
      ? { body: { id: "1", name: "Roblox" } }
      : { status: 401, body: { errors: [{ code: 0, message: "Invalid API Key" }] } };
  });
  const { url } = await runUntil(onTestFinished)(platforms);
  const { environment } = await startDiscord();
  const findingWith = async (key: string) => {
    const ACCOUNTLINK_PUBLIC_URL = "https://links.example";
    const keyed = { ACCOUNTLINK_GAME_API_KEY: key, ACCOUNTLINK_GAME_API_URL: `${url}/{service}` };
    const findings = await findingsIn({ ...environment, ...keyed, ACCOUNTLINK_PUBLIC_URL });
    expect(findings).not.toMatch(/(right|wrong)-key/);
    return /^(\w+ +open cloud .*)$/m.exec(findings)?.[1];
  };
  expect(await findingWith("")).toMatch(/^ok .* it is not asked, since ACCOUNTLINK_GAME_API_KEY is not set$/);
  expect(await findingWith("right-key")).toMatch(/^ok .* it answers first, then the legacy routes$/);
  expect(await findingWith("wrong-key")).toMatch(/^warn .* it refuses ACCOUNTLINK_GAME_API_KEY, /);
});

it("the doctor compares the commands and the intent of the application at the chat platform", async () => {
  const found = async (environment: Readonly<Record<string, string>>) =>
    (await findingsIn({ ...environment, ACCOUNTLINK_PUBLIC_URL: "https://links.example" }))
      .split("\n")
      .filter((line) => /^\w+ +(commands|joins) /.test(line));
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
