/** A restored or copied storage acts on nobody until `accountlink resume`, while requests go on. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, cp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { runInProcess, storageAt } from "@accountlink/server/test_command_line";
import {
  isProof,
  makePostgresDatabase,
  startPostgres,
  startRedis,
  whyNoPostgresWithTools,
  whyNoRedis,
} from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { guild, inGuilds, makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { type RunningServer, serverInScope } from "../support/server.ts";

const run = promisify(execFile);
const root = useFolder();
const secret = randomBytes(32).toString("base64");
const [ada, bob, dan] = ["100001", "100002", "100004"];
const [linked, chief] = ["2", "3"];

const roles = [
  { id: linked, name: "Linked" },
  { id: chief, name: "Chief" },
];

/** Makes a storage, and then a copy of it beside its running server. */
const storages = {
  "an embedded storage that restore put back": Effect.sync(() => {
    const folder = join(root, "restored");
    const env = { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: folder, ACCOUNTLINK_SECRET: secret };
    const copied = { ...env, ACCOUNTLINK_DATA_DIR: join(root, "put-back") };
    const copy = Effect.promise(async () => {
      const { stdout } = await runInProcess(["backup", join(root, "backups"), "--json"], env);
      const { file } = JSON.parse(stdout) as { readonly file: string };
      expect((await runInProcess(["restore", file], copied)).stdout).toContain("acts on nobody");
      return copied;
    });
    return { env, copy };
  }),
  "a copied data folder": Effect.sync(() => {
    const folder = join(root, "copied");
    const env = { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: folder, ACCOUNTLINK_SECRET: secret };
    const copied = { ...env, ACCOUNTLINK_DATA_DIR: join(root, "copy") };
    const copy = Effect.promise(async () => {
      await cp(folder, copied.ACCOUNTLINK_DATA_DIR, { recursive: true });
      return copied;
    });
    return { env, copy };
  }),
  "a dump that pg_restore put into another database": Effect.gen(function* () {
    const server = yield* startPostgres({ tools: true });
    const [from, to] = [yield* makePostgresDatabase(server), yield* makePostgresDatabase(server)];
    const env = storageAt(from.url, secret);
    const copy = Effect.promise(async () => {
      const dump = join(root, "links.dump");
      await run(join(server.programs, "pg_dump"), ["--format=custom", `--file=${dump}`, from.url]);
      await run(join(server.programs, "pg_restore"), ["--no-owner", `--dbname=${to.url}`, dump]);
      return { ...env, ACCOUNTLINK_DATABASE_URL: to.url };
    });
    return { env, copy };
  }),
  "a Redis that loaded the file of another": Effect.gen(function* () {
    const [from, to] = [yield* startRedis(), yield* startRedis()];
    const env = storageAt(from.url, secret);
    const folderOf = (redis: typeof from) =>
      Effect.map(redis.ask("INFO", "server"), (info) => dirname(/config_file:(\S+)/.exec(info)?.[1] ?? ""));
    const copy = Effect.gen(function* () {
      yield* from.ask("SAVE");
      const [source, target] = [yield* folderOf(from), yield* folderOf(to)];
      yield* to.kill;
      yield* Effect.promise(() => copyFile(join(source, "dump.rdb"), join(target, "dump.rdb")));
      yield* to.restart;
      return { ...env, ACCOUNTLINK_DATABASE_URL: to.url };
    });
    return { env, copy };
  }),
};

const missing = whyNoPostgresWithTools() ?? (await whyNoRedis());

const holders = ({ platform }: RunningServer) =>
  Effect.promise(() => platform.send(`GET /control/guilds/${guild}/roles`)).pipe(
    Effect.map(({ body }) => Number((body as Readonly<Record<string, unknown>>)[linked])),
  );

const untilHolders = (server: RunningServer, count: number) =>
  Effect.promise(() =>
    expect.poll(() => Effect.runPromise(holders(server)), { timeout: 20_000 }).toBe(count),
  );

/** A community whose plan gives linked members a role. */
const makeClub = () => {
  const fixtures = makeFixtures();
  const key = fixtures.key({ account: "club", guildId: guild, links: { [ada]: "1" }, tier: "premium" });
  fixtures.plan({
    account: "club",
    guildId: guild,
    rules: [{ roleId: linked, when: { is: "linked" } }],
    unlinked: "remove",
    state: "on",
  });
  const known = { platform: inGuilds(fixtures.fixture, ({ id }) => (id === guild ? { roles } : {})) };
  const set = (server: RunningServer, chatId: string, gameId: string) =>
    Effect.promise(() =>
      server.send("PATCH /v2/game", { key, body: { chatId, gameId, guildId: guild } }),
    ).pipe(Effect.map(({ status }) => expect(status).toBe(200)));
  return { key, known, fixture: { ...fixtures.fixture, ...known }, set };
};

const all = Object.entries(storages);
/** The others differ in how the copy is made, and take ten seconds each. */
const usual = all.filter(([name]) => isProof || name.includes("that restore"));

testLive.each(missing === null ? usual : [])(
  "%s acts on nobody until it is resumed",
  function* ([, make]) {
    const { key, known, fixture, set } = makeClub();
    const fixtureFile = join(root, "platform.json");
    yield* Effect.promise(() => writeFile(fixtureFile, JSON.stringify(known)));

    const { env, copy } = yield* make;
    const original = yield* serverInScope({ fixture, env });
    yield* set(original, bob, "2");
    yield* untilHolders(original, 2);
    expect(original.output()).not.toContain("acts on nobody");

    const copied = yield* copy;
    const commands = { ...copied, ACCOUNTLINK_PLATFORM: "dev", ACCOUNTLINK_FIXTURE: fixtureFile };
    const server = yield* serverInScope({ fixture: known, env: copied });
    expect(server.output()).toContain("acts on nobody");
    yield* set(server, dan, "3");
    const sync = yield* Effect.promise(() =>
      server.send("POST /v2/members/sync", { key, body: { chatId: dan, guildId: guild } }),
    );
    expect(sync.status).toBe(503);
    const { stdout: examined } = yield* Effect.promise(() => runInProcess(["doctor"], commands));
    expect(examined).toContain("acts on nobody");
    // Couriers look for work each second.
    yield* Effect.sleep("2500 millis");
    expect(yield* holders(server)).toBe(0);
    const metrics = yield* Effect.promise(() => server.send("GET /metrics"));
    expect(metrics.text).toMatch(/^accountlink_storage_resting 1$/m);

    const told = yield* Effect.promise(() => runInProcess(["resume", "--dry-run", "--json"], commands));
    expect(JSON.parse(told.stdout)).toMatchObject({
      resumed: false,
      plans: [
        { account: "club", guildId: guild, told: true, roles: [{ roleId: linked, gained: 3, lost: 0 }] },
      ],
    });
    expect(yield* holders(server)).toBe(0);
    const resumed = yield* Effect.promise(() => runInProcess(["resume"], commands));
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining("acts again") as unknown });
    // One, or all where the copy was made in the last moment of a sweep.
    const acts = () => expect.poll(() => Effect.runPromise(holders(server)), { timeout: 20_000 });
    yield* Effect.promise(() => acts().toBeGreaterThan(0));
    yield* set(server, dan, "4");

    // The original has acted all the time.
    yield* set(original, dan, "3");
    yield* untilHolders(original, 3);
    expect(original.output()).not.toContain("acts on nobody");
  },
  120_000,
);

testLive.skipIf(missing !== null || !isProof)(
  "a snapshot of the disk of Postgres acts at once, beside its original",
  function* () {
    const { known, fixture, set } = makeClub();
    const [from, to] = [yield* startPostgres({ tools: true }), yield* startPostgres({ tools: true })];
    const { url } = yield* makePostgresDatabase(from);
    const env = storageAt(url, secret);
    const original = yield* serverInScope({ fixture, env });
    yield* set(original, bob, "2");
    yield* untilHolders(original, 2);

    yield* Effect.all([from.stop, to.stop]);
    yield* Effect.promise(async () => {
      await rm(to.data, { recursive: true });
      await run("cp", ["-a", from.data, to.data]);
    });
    yield* Effect.all([from.restart, to.restart]);

    const database = new URL(url).pathname.slice(1);
    const copied = { ...env, ACCOUNTLINK_DATABASE_URL: to.urlOf(database) };
    // As the documents advise: without a platform, it reaches no member.
    const apart = yield* serverInScope({ fixture: {}, env: { ...copied, ACCOUNTLINK_PLATFORM: "none" } });
    expect(apart.output()).not.toContain("acts on nobody");
    const identityOf = (server: RunningServer) =>
      Effect.map(
        Effect.promise(() => server.send("GET /readyz")),
        ({ status, body }) => ({
          status,
          deployment: (body as { readonly deployment?: unknown }).deployment,
        }),
      );
    const identity = yield* identityOf(apart);
    expect(identity).toEqual({ status: 200, deployment: expect.any(String) as unknown });
    expect(yield* identityOf(original)).toEqual(identity);

    const server = yield* serverInScope({ fixture: known, env: copied });
    expect(server.output()).not.toContain("acts on nobody");
    yield* set(server, dan, "3");
    yield* untilHolders(server, 1);
    yield* set(original, dan, "4");
    yield* untilHolders(original, 3);
  },
  120_000,
);
