import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { Effect } from "effect";
import { expect, it, vi } from "vitest";
import { makeBackup } from "../../backups/backups.ts";
import { runInProcess } from "../test_command_line.ts";
import { inDatabase, makeWorkplace, startServer, statusWith } from "../test_program.ts";
import { makeShared, whyNothingShared } from "../test_shared.ts";

/** The age that a server tells of its newest backup, in seconds. */
const ageAt = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^accountlink_backup_age_seconds (\S+)$/m.exec(metrics)?.[1]);
};

const namesIn = (folder: string) => readdirSync(folder).toSorted();

it("backup copies a storage beside its server, and keeps the newest", async () => {
  const { folder, json, serve } = await makeWorkplace({ ACCOUNTLINK_BACKUP_KEEP: "2" });
  const url = await serve();
  const { token } = await json("keys", "create", "--account", "acme");
  const backups = join(folder, "backups");
  const made = [];
  for (let round = 0; round < 3; round++) made.push(await json("backup", backups));
  const [first, second, third] = made.map(({ file }) => String(file));
  expect(made[2]).toMatchObject({
    deleted: [first?.split("/").at(-1)],
    tables: { keys: 1, accounts: 1 },
  });
  expect(namesIn(backups).map((name) => join(backups, name))).toEqual([second, third]);
  expect(statSync(String(third)).mode & 0o777).toBe(0o600);

  expect(await statusWith(url, token)).toBe(404);
});

it("restore replaces a lost database", async () => {
  const { folder, dataFolder, json, serve } = await makeWorkplace();
  const { token } = await json("keys", "create", "--account", "acme");
  const { file: backup } = await json("backup", join(folder, "backups"));
  const database = join(dataFolder, "accountlink.db");
  writeFileSync(database, "");
  for (const end of ["-wal", "-shm"]) await rm(database + end, { force: true });
  expect(await json("restore", String(backup))).toMatchObject({ secret: "fits", tables: { keys: 1 } });
  expect(namesIn(dataFolder).filter((name) => name.includes("part"))).toEqual([]);
  expect(await statusWith(await serve(), token)).toBe(404);
});

it("a restore applies no log that a killed one left", async () => {
  const { folder, dataFolder, json } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const backups = join(folder, "backups");
  const { file: small } = await json("backup", backups);
  const rows =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, 1, 1 FROM n";
  inDatabase(
    join(dataFolder, "accountlink.db"),
    `INSERT INTO import_progress (source, position, saved_at) ${rows}`,
  );
  const { file: large } = await json("backup", backups);
  const part = join(dataFolder, ".restored.part");
  copyFileSync(String(small), part);
  const killed = new DatabaseSync(part);
  killed.exec("PRAGMA journal_mode = WAL; UPDATE storage_place SET rest_since = 1");
  copyFileSync(`${part}-wal`, `${part}-log`);
  killed.close();
  renameSync(`${part}-log`, `${part}-wal`);
  const tables = { keys: 1, import_progress: 5000 };
  expect(await json("restore", "--replace", String(large))).toMatchObject({ tables });
});

it("a server removes the copy of the data that a killed restore left", async () => {
  const { dataFolder, json, serve } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  for (const end of ["", "-wal"]) writeFileSync(join(dataFolder, `.restored.part${end}`), "links");
  await serve();
  expect(namesIn(dataFolder).filter((name) => name.includes("part"))).toEqual([]);
});

it("a server makes backups by itself", async () => {
  const { folder, serve } = await makeWorkplace();
  const backups = join(folder, "backups");
  await serve({
    ACCOUNTLINK_BACKUP_DIR: backups,
    ACCOUNTLINK_BACKUP_EVERY: "50 millis",
    ACCOUNTLINK_BACKUP_KEEP: "2",
  });
  await vi.waitFor(() => expect(existsSync(backups) && namesIn(backups).length).toBe(2), { timeout: 30_000 });
});

it("a server that stops drains before it waits for the copy of a backup", async () => {
  const { folder, dataFolder, environment, json } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const ballast = "CREATE TABLE ballast AS SELECT zeroblob(100000000) AS bytes";
  inDatabase(join(dataFolder, "accountlink.db"), ballast);
  const backups = join(folder, "backups");
  const server = await startServer({ ...environment, ACCOUNTLINK_BACKUP_DIR: backups });
  const parts = () => (existsSync(backups) ? namesIn(backups).filter((name) => name.endsWith(".part")) : []);
  const soon = { interval: 1, timeout: 30_000 };
  await vi.waitFor(
    () => expect(parts().map((name) => statSync(join(backups, name)).size > 0)).toEqual([true]),
    soon,
  );
  const stopped = server.stop();
  await vi.waitFor(() => expect(server.output()).toContain("Server stops"), soon);
  expect(parts()).toHaveLength(1);
  await stopped;
});

it("a server tells the age of the newest backup", async () => {
  const { folder, json, serve } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const backups = join(folder, "backups");
  const { file } = await json("backup", backups);
  const made = new Date(Date.now() - 7_200_000);
  utimesSync(String(file), made, made);
  const url = await serve({ ACCOUNTLINK_BACKUP_DIR: backups, ACCOUNTLINK_BACKUP_EVERY: "1 day" });
  await vi.waitFor(async () => expect(await ageAt(url)).toBeGreaterThanOrEqual(7_200), { timeout: 30_000 });
  expect(await ageAt(url)).toBeLessThan(7_800);
  expect(namesIn(backups)).toHaveLength(1);
});

it("a server whose backups fail tells the time since its start", async () => {
  const { folder, serve } = await makeWorkplace();
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  const url = await serve({
    ACCOUNTLINK_BACKUP_DIR: join(file, "backups"),
    ACCOUNTLINK_BACKUP_EVERY: "50 millis",
  });
  await vi.waitFor(async () => expect(await ageAt(url)).toBeGreaterThan(0.2), { timeout: 30_000 });
});

it("backups at once, of two storages into one folder, delete only old ones of their own", async () => {
  const [one, other] = [
    await makeWorkplace({ ACCOUNTLINK_BACKUP_KEEP: "2" }),
    await makeWorkplace({ ACCOUNTLINK_BACKUP_KEEP: "2" }),
  ];
  const folder = join(one.folder, "shared");
  for (const { json } of [one, other]) await json("keys", "create", "--account", "acme");
  const made = await Promise.all([one, other, one, other, one].map(({ json }) => json("backup", folder)));
  const names = namesIn(folder);
  // The name of one that was deleted may be taken again within its millisecond.
  const answered = new Set(made.map(({ file }) => String(file).split("/").at(-1)));
  expect(names.filter((name) => !answered.has(name))).toEqual([]);
  const identities = names.map((name) => /^accountlink-([\w-]{22})-\d{8}T\d{9}Z\.db$/.exec(name)?.[1]);
  expect(new Set(identities).size).toBe(2);
  expect(names).toHaveLength(4);
});

it("a backup that is dated ahead stops no further ones, and goes first", async () => {
  const { folder, json, serve } = await makeWorkplace({ ACCOUNTLINK_BACKUP_KEEP: "2" });
  await json("keys", "create", "--account", "acme");
  const backups = join(folder, "backups");
  const { file } = await json("backup", backups);
  const ahead = String(file).replace(/\d{8}T/, "29990101T");
  renameSync(String(file), ahead);
  const later = new Date("2999-01-01");
  utimesSync(ahead, later, later);
  const url = await serve({ ACCOUNTLINK_BACKUP_DIR: backups, ACCOUNTLINK_BACKUP_EVERY: "1 day" });
  await vi.waitFor(() => expect(namesIn(backups).filter((name) => name.endsWith(".db"))).toHaveLength(2), {
    timeout: 30_000,
  });
  expect(await ageAt(url)).toBeLessThan(600);
  await json("backup", backups);
  expect(existsSync(ahead)).toBe(false);
});

it("a backup is its owner's alone while it is written", async () => {
  const { folder } = await makeWorkplace();
  const modes: Array<number> = [];
  // As programs do that open a file by its name.
  const copy = (part: string) =>
    Effect.sync(() => {
      writeFileSync(part, "rows");
      modes.push(statSync(part).mode & 0o777);
      return { version: 1, rootKey: "", tables: {} };
    });
  const place = { folder: join(folder, "backups"), identity: "storage", keep: 1 };
  await Effect.runPromise(makeBackup({ ending: "dump", copy }, place));
  expect(modes).toEqual([0o600]);
});

it("a backup that everyone can read is its owner's alone while it is restored", async () => {
  const { folder, dataFolder, json, run } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const { file } = await json("backup", join(folder, "backups"));
  inDatabase(String(file), "CREATE TABLE ballast AS SELECT zeroblob(50000000) AS bytes");
  chmodSync(String(file), 0o644);
  const restored = run("restore", "--replace", String(file));
  const modes = new Set<number>();
  for (let isOver = false; !isOver; ) {
    const found = statSync(join(dataFolder, ".restored.part"), { throwIfNoEntry: false });
    if (found !== undefined) modes.add(found.mode & 0o777);
    isOver = await Promise.race([restored.then(() => true), setImmediate(false)]);
  }
  expect((await restored).code).toBe(0);
  expect([...modes]).toEqual([0o600]);
});

it("restore --replace keeps the data beside it", async () => {
  const { folder, dataFolder, json } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const { file } = await json("backup", join(folder, "backups"));
  await json("keys", "create", "--account", "acme");
  const restored = await json("restore", "--replace", String(file));
  expect(restored).toMatchObject({ resumed: false, tables: { keys: 1 } });
  const kept = String(restored["kept"]);
  expect(kept).toMatch(/accountlink-\d{8}T\d{9}Z\.db$/);
  expect(namesIn(dataFolder)).toContain(kept.split("/").at(-1));
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  // What was kept can be restored as any backup.
  expect(await json("restore", "--replace", "--resume", kept)).toMatchObject({
    resumed: true,
    tables: { keys: 2 },
  });
});

it("restore --resume whose resume is refused tells what it restored", async () => {
  const { folder, environment, file, json, run } = await makeWorkplace();
  const guildId = "700000000000000001";
  const plan = { account: "acme", scope: "global", guildId, nickname: "{game.username}" };
  // The guild is one of the server's alone, so the command cannot compare it.
  const known = { plans: [plan], platform: { guilds: [{ id: guildId, name: "Club" }] } };
  const fixture = await file("fixture.json", JSON.stringify(known));
  const server = await startServer({ ...environment, ACCOUNTLINK_FIXTURE: fixture });
  await server.stop();
  const { file: backup } = await json("backup", join(folder, "backups"));
  const words = ["restore", "--replace", "--resume", String(backup)];
  const { code, stderr } = await run(...words);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^Restored \d+ records into .*\. What was there is .*\n.*\nCannot resume: 1 guild .*acts on nobody until: accountlink resume\n$/,
  );
  expect(await json(...words)).toMatchObject({
    error: expect.stringMatching(/^Cannot resume/) as unknown,
    kept: expect.any(String) as unknown,
    resumed: false,
    plans: [{ told: false }],
  });
});

it("a resume tells which roles go on being taken and given back, and which nicknames are put back", async () => {
  const { folder, dataFolder, environment, file, json } = await makeWorkplace();
  const [one, two] = ["700000000000000001", "700000000000000002"];
  const plans = [one, two].map((guildId) => ({
    account: "acme",
    scope: "global",
    guildId,
    rules: [],
    nickname: "{game.username}",
    state: guildId === one ? "on" : "paused",
  }));
  const platform = {
    guilds: [one, two].map((id) => ({ id, bot: true, roles: [{ id: "5", name: "Linked" }] })),
  };
  const fixture = { ACCOUNTLINK_FIXTURE: await file("fixture.json", JSON.stringify({ plans, platform })) };
  const server = await startServer({ ...environment, ...fixture });
  await server.stop();
  for (const [guildId, change] of [
    [one, "gave"],
    [two, "took"],
  ]) {
    const made = `'${change}', '${change}', 2, 'link', 'made', NULL`;
    inDatabase(
      join(dataFolder, "accountlink.db"),
      `INSERT INTO role_reversals (pid, guild_id, role_id, change, at, number)
        SELECT pid, '${guildId}', '5', '${change}', 1, 0 FROM scopes;
      INSERT INTO role_changes (pid, guild_id, number, chat_id, role_id, change, last, at, because, outcome, kept_until)
        SELECT pid, '${guildId}', 1, '100001', '5', ${made} FROM scopes`,
    );
  }
  const nickname = `UPDATE role_plans SET putting_back_since = 1;
    INSERT INTO role_members (pid, guild_id, chat_id, mark, replaced_nickname, replaced_at)
      SELECT pid, guild_id, '100001', 1, 'Ada', 1 FROM role_plans`;
  inDatabase(join(dataFolder, "accountlink.db"), nickname);
  const { file: backup } = await json("backup", join(folder, "backups"));
  await json("restore", "--replace", String(backup));
  const { stdout } = await runInProcess(["resume", "--dry-run", "--json"], { ...environment, ...fixture });
  const of = { account: "acme", roleId: "5", members: 1 };
  expect(JSON.parse(stdout)).toMatchObject({
    reversals: [
      { ...of, guildId: one, does: "take" },
      { ...of, guildId: two, does: "give back" },
    ],
    // The rules that are on would set the nicknames of the other guild again.
    nicknames: [{ account: "acme", guildId: two, members: 1 }],
  });
});

const missing = await whyNothingShared();

it.skipIf(missing !== null)(
  `restore --resume is judged before it changes anything ${missing ?? ""}`,
  async () => {
    const { redis } = await makeShared();
    const { folder, dataFolder, json, run, environment } = await makeWorkplace();
    await json("keys", "create", "--account", "acme");
    const { file } = await json("backup", join(folder, "backups"));
    const before = namesIn(dataFolder);
    const cache = { ACCOUNTLINK_CACHE: "redis", ACCOUNTLINK_REDIS_URL: `${redis.url}/99` };
    for (const [wrong, problem] of [
      [cache, "ACCOUNTLINK_REDIS_URL names database 99"],
      [{ ACCOUNTLINK_FIXTURE: join(folder, "none.json") }, "none.json"],
      [{ ACCOUNTLINK_PLATFORM: "live" }, "ACCOUNTLINK_"],
    ] as const) {
      const words = ["restore", "--replace", "--resume", String(file)];
      const { code, stderr } = await runInProcess(words, { ...environment, ...wrong });
      expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
      expect(namesIn(dataFolder)).toEqual(before);
    }
    // Without the secret, the restored folder could not be opened.
    const empty = join(folder, "empty");
    const elsewhere = { ...environment, ACCOUNTLINK_DATA_DIR: empty };
    const refused = await runInProcess(["restore", "--resume", String(file)], elsewhere);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--resume needs") as unknown });
    expect(existsSync(empty)).toBe(false);
    expect(await run("resume")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("does not rest") as unknown,
    });
  },
);

it("restore --replace keeps the log of a damaged database beside it", async () => {
  const { folder, dataFolder, json } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const { file } = await json("backup", join(folder, "backups"));
  const [database, damaged] = [join(dataFolder, "accountlink.db"), "damaged".repeat(10_000)];
  for (const end of ["", "-wal"]) writeFileSync(`${database}${end}`, damaged);
  const { kept } = await json("restore", "--replace", "--resume", String(file));
  expect(readFileSync(`${String(kept)}-wal`, "utf8")).toBe(damaged);
  expect(await json("keys", "list")).toMatchObject({ keys: [{ status: "active" }] });
});

it("a resume can be repeated, and copies of resting and of resumed storages rest", async () => {
  const { folder, dataFolder, json, environment } = await makeWorkplace({ ACCOUNTLINK_BACKUP_KEEP: "1" });
  await json("keys", "create", "--account", "acme");
  const backups = join(folder, "backups");
  const { file } = await json("backup", backups);
  const first = join(folder, "first.db");
  renameSync(String(file), first);
  // A copy over the file of the database keeps the place of that one.
  copyFileSync(first, join(dataFolder, "accountlink.db"));
  expect(await json("resume", "--dry-run")).toMatchObject({ restingSince: expect.any(String) as unknown });
  const kept = [];
  for (let round = 0; round < 2; round++) kept.push((await json("restore", "--replace", first))["kept"]);
  expect(new Set(kept).size).toBe(2);
  await json("backup", backups);
  const { file: resting } = await json("backup", backups);
  expect(namesIn(backups).map((name) => join(backups, name))).toEqual([resting]);

  const restingSince = expect.any(String) as unknown;
  expect(await json("resume")).toMatchObject({ resumed: true, restingSince });
  expect(await json("resume")).toMatchObject({ resumed: false, restingSince: null });

  const copy = join(folder, "copy");
  await cp(dataFolder, copy, { recursive: true });
  const inCopy = { ...environment, ACCOUNTLINK_DATA_DIR: copy };
  for (const resumed of [true, false]) {
    const { stdout } = await runInProcess(["resume", "--json"], inCopy);
    expect(JSON.parse(stdout)).toMatchObject({ resumed, restingSince: resumed ? restingSince : null });
  }
  const restored = await runInProcess(["restore", "--replace", "--json", String(resting)], inCopy);
  expect(JSON.parse(restored.stdout)).toMatchObject({ resumed: false });
  const { stdout } = await runInProcess(["resume", "--dry-run", "--json"], inCopy);
  expect(JSON.parse(stdout)).toMatchObject({ resumed: false, restingSince });
});
