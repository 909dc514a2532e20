import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { accountlink } from "./accountlink.ts";
import { secretOf } from "./test_command_line.ts";
import { makeWorkplace, statusWith, type Workplace } from "./test_program.ts";
import { makeShared, whyNothingShared } from "./test_shared.ts";

const missing = await whyNothingShared();

const createKey = async ({ json }: Workplace): Promise<unknown> =>
  (await json("keys", "create", "--account", "acme"))["token"];

/** The text of a fixture with one sighting at each address. */
const sightingsAt = (...ips: ReadonlyArray<string>): string =>
  JSON.stringify({
    sightings: ips.map((ip) => ({ account: "acme", scope: "global", chatId: "100001", ip })),
  });

const request = "req_01M7X9Q2V0H7B7P1C9W3K5T8RZ";
const line = `{"timestamp":"2026-01-01T00:00:00Z","annotations":{"requestId":"${request}"}}`;

/** How each command opens a storage; null for those that open none. */
const openings: Readonly<Record<string, string | null>> = {
  serve: "serve",
  migrate: "migrate",
  accounts: "accounts list",
  keys: "keys create --account acme",
  links: "links import --account acme {file}",
  users: "users erase --chat-id 100001",
  webhooks: "webhooks list --account acme",
  listen: null,
  roles: "roles show --account acme --guild-id 700000000000000001",
  chat: null,
  secrets: "secrets rotate",
  audit: "audit list --account acme",
  trace: `trace ${request} {log} --account acme`,
  backup: "backup {none}",
  restore: "restore {backup} --replace --resume",
  resume: "resume",
  move: "move --to {none}",
  doctor: "doctor",
};

it("every command refuses a wrong secret, names it, and changes nothing", async () => {
  const names = accountlink.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name));
  expect(Object.keys(openings).toSorted()).toEqual(names.toSorted());
  const place = await makeWorkplace();
  const key = await createKey(place);
  const data = place.dataFolder;
  const { file: backup } = await place.json("backup", join(place.folder, "backups"));
  const paths: Readonly<Record<string, string>> = {
    backup: String(backup),
    none: join(place.folder, "none"),
    file: await place.file("links.csv", "chatId,gameId\n100001,1\n"),
    log: await place.file("server.log", `${line}\n`),
  };
  const database = readFileSync(join(data, "accountlink.db"));
  const [folders, own] = [readdirSync(place.folder), readFileSync(join(data, "secret"), "utf8")];
  const expected = "expected the one that it was made with or last rotated to";
  const of = (command: string) =>
    command === "restore" ? `the backup "${String(backup)}"` : `data folder "${data}"`;
  const set = (wrong: string) => ({ ACCOUNTLINK_SECRET: wrong });
  for (const [variables, file, said] of [
    [set(secretOf("w")), own, "ACCOUNTLINK_SECRET is not the secret of {of}"],
    [set(`${secretOf("w")},${secretOf("v")}`), own, "ACCOUNTLINK_SECRET is not the secret of {of}"],
    [
      {},
      secretOf("w"),
      `ACCOUNTLINK_SECRET is not set, and "${join(data, "secret")}" does not hold the secret of {of}`,
    ],
    [
      {},
      null,
      `ACCOUNTLINK_SECRET is not set and data folder "${data}" holds none, expected the secret that its database was made with`,
    ],
  ] as const) {
    if (file === null) await rm(join(data, "secret"));
    else writeFileSync(join(data, "secret"), file);
    const other = await makeWorkplace({ ACCOUNTLINK_DATA_DIR: data, ...variables });
    for (const [command, words] of Object.entries(openings)) {
      // Without any secret, a restore says which one is missing.
      if (words === null || (command === "restore" && file === null)) continue;
      const filled = words.replaceAll(/\{(\w+)\}/g, (_, name: string) => paths[name] ?? "");
      const { code, stdout, stderr } = await other.run(...filled.split(" "));
      const refusal = said.replace("{of}", of(command));
      expect([command, code, command === "doctor" ? stdout : stderr]).toEqual([
        command,
        1,
        expect.stringContaining(file === null ? refusal : `${refusal}, ${expected}`),
      ]);
      expect([command, readFileSync(join(data, "accountlink.db")).equals(database)]).toEqual([command, true]);
      expect([command, readdirSync(place.folder)]).toEqual([command, folders]);
    }
  }
  writeFileSync(join(data, "secret"), own);
  expect(await statusWith(await place.serve(), key)).toBe(404);
});

it("`secrets rotate` replaces the secret of a data folder while its server runs", async () => {
  const place = await makeWorkplace();
  const key = await createKey(place);
  const file = join(place.dataFolder, "secret");
  const before = readFileSync(file, "utf8");
  const url = await place.serve();

  expect(await place.run("secrets", "rotate")).toEqual({
    code: 0,
    stdout: `The root key of data folder "${place.dataFolder}" is wrapped with the new secret now\n0 sightings brought under address key "secret"\n`,
    stderr: "",
  });
  const after = readFileSync(file, "utf8");
  expect(after).toMatch(/^[\w+/]{43}=\n$/);
  expect(after).not.toBe(before);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await statusWith(url, key)).toBe(404);
  const other = await createKey(place);
  expect(await statusWith(url, other)).toBe(404);

  writeFileSync(file, before);
  expect((await place.run("keys", "list")).stderr).toContain("does not hold the secret");
});

it("`secrets rotate` resumes a rotation that stopped before or after the root key was wrapped", async () => {
  const place = await makeWorkplace();
  await createKey(place);
  const file = join(place.dataFolder, "secret");
  const [old, next] = [readFileSync(file, "utf8").trim(), secretOf("n")];
  for (let times = 0; times < 2; times++) {
    writeFileSync(file, `${next},${old}\n`);
    expect((await place.run("keys", "list")).code).toBe(0);
    expect((await place.run("secrets", "rotate")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(`${next}\n`);
    expect((await place.run("keys", "list")).code).toBe(0);
  }
});

it("concurrent rotations of a secret leave a working secret", async () => {
  const place = await makeWorkplace();
  await createKey(place);
  const rotations = await Promise.all([1, 2].map(() => place.runProcess("secrets", "rotate")));
  // A rotation may be refused while another one runs, but no rotation may leave a wrong secret.
  expect(rotations.map(({ code }) => code)).toContain(0);
  expect(await place.run("keys", "list")).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(place.dataFolder, "secret"), "utf8")).toMatch(/^[\w+/]{43}=\n$/);
});

it("`secrets rotate` re-encrypts sightings with the newest address key, and counts unreadable ones", async () => {
  const place = await makeWorkplace();
  const fixture = await place.file("fixture.json", sightingsAt("203.0.113.7", "2001:db8::1"));
  const under = (keys: string) =>
    makeWorkplace({
      ACCOUNTLINK_DATA_DIR: place.dataFolder,
      ACCOUNTLINK_FIXTURE: fixture,
      ...(keys === "" ? {} : { ACCOUNTLINK_ADDRESS_KEYS: keys }),
    });
  const [one, two] = [`k1:${secretOf("1")}`, `k2:${secretOf("2")}`];
  const filling = (await under("")).start("serve");
  await new Promise((resolve) => filling.stdout?.once("data", resolve));
  filling.kill();
  const rotate = async (keys: string) => (await under(keys)).json("secrets", "rotate");
  const folder = place.dataFolder;
  const rotated = (addressKey: string, count: number) => ({
    secret: "rotated",
    addressKey,
    sightings: { rotated: count, unreadable: 0 },
    folder,
  });
  expect(await rotate(one)).toEqual(rotated("k1", 2));
  expect(await rotate(one)).toEqual(rotated("k1", 0));
  expect(await rotate(two)).toEqual({
    error: "Cannot read 2 sightings, expected the keys that protect them in ACCOUNTLINK_ADDRESS_KEYS",
    secret: "rotated",
    addressKey: "k2",
    sightings: { rotated: 0, unreadable: 2 },
    folder,
  });
  expect(await rotate(`${two},${one}`)).toEqual(rotated("k2", 2));
  expect(await rotate(two)).toEqual(rotated("k2", 0));
});

describe.skipIf(missing !== null)(`accountlink secrets rotate on Postgres ${missing ?? ""}`, () => {
  it("`secrets rotate` wraps the root key once with the new secret, and the doctor reports the result", async () => {
    const { environment } = await makeShared();
    const [old, next] = [environment["ACCOUNTLINK_SECRET"], secretOf("n")];
    const under = (secret = "") => makeWorkplace({ ...environment, ACCOUNTLINK_SECRET: secret });
    const [before, both, after] = [await under(old), await under(`${next},${old}`), await under(next)];
    const rootKeyIn = async ({ json }: Workplace) =>
      ((await json("doctor"))["findings"] as ReadonlyArray<Record<string, unknown>>)
        .filter(({ check }) => check === "root key")
        .map(({ status, finding }) => `${String(status)}: ${String(finding)}`)[0];
    const key = await createKey(both);

    expect((await after.run("keys", "list")).stderr).toMatch(
      /^Cannot run the command: ACCOUNTLINK_SECRET is not the secret of database ".*", expected the one that/,
    );
    expect(await rootKeyIn(before)).toBe("ok: the secret unwraps it");
    expect(await rootKeyIn(both)).toBe("warn: the old secret unwraps it");
    expect(await before.json("secrets", "rotate")).toMatchObject({ secret: "unchanged" });
    expect(await both.json("secrets", "rotate")).toMatchObject({ secret: "rotated" });
    expect(await both.json("secrets", "rotate")).toMatchObject({ secret: "unchanged" });
    expect(await rootKeyIn(both)).toBe("warn: the new secret unwraps it, and the old one is not needed");
    expect(await rootKeyIn(after)).toBe("ok: the secret unwraps it");
    expect(await rootKeyIn(before)).toMatch(/^fail: ACCOUNTLINK_SECRET is not the secret of database/);
    expect((await before.run("serve")).stderr).toMatch(/^Cannot start: ACCOUNTLINK_SECRET is not the secret/);
    expect(await statusWith(await after.serve(), key)).toBe(404);
  });
});
