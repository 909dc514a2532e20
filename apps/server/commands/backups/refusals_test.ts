/** Each refusal of backup, restore and move says what failed, of what, what was expected, and changes nothing. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePostgresDatabase, makePostgresUser, runUntil } from "@accountlink/test-servers";
import { Effect } from "effect";
import { expect, it, onTestFinished } from "vitest";
import { runBoundByModes } from "../test_bound_by_modes.ts";
import { runInProcess, secretOf, storageAt } from "../test_command_line.ts";
import { embeddedIn, inDatabase, makeWorkplace, startServer } from "../test_program.ts";
import { makeShared, whyNothingShared } from "../test_shared.ts";

/** Two filled data folders with a backup of each, and files that are no backups. */
const makePlaces = async () => {
  const place = await makeWorkplace();
  const other = await makeWorkplace();
  const [backup, foreign] = await Promise.all(
    [place, other].map(async ({ folder, json }) => {
      await json("keys", "create", "--account", "acme");
      return String((await json("backup", join(folder, "backups")))["file"]);
    }),
  );
  const whole = readFileSync(String(backup));
  const changed = async (name: string, sql: string, content: Uint8Array | "" = whole) => {
    const path = await place.file(name, content);
    inDatabase(path, sql);
    return path;
  };
  const otherSecret = join(place.folder, "other");
  mkdirSync(otherSecret);
  await place.file("other/secret", secretOf("s"));
  const another = async (environment: Readonly<Record<string, string>>) =>
    (await makeWorkplace(environment)).run;
  const onPostgres = storageAt("postgres://user:hidden@127.0.0.1:1/data");
  // As the program of Postgres 15 answers to a dump of Postgres 18.
  const old = "#!/bin/sh\necho 'pg_restore: error: unsupported version (1.16) in file header' >&2\nexit 1\n";
  chmodSync(await place.file("pg_restore", old), 0o755);
  const data = place.dataFolder;
  return {
    place,
    data,
    folder: place.folder,
    backup: String(backup),
    foreign: String(foreign),
    otherData: other.dataFolder,
    otherSecret,
    none: join(place.folder, "none"),
    plain: await place.file("plain", "no database"),
    empty: await place.file("empty.db", ""),
    half: await place.file("half.db", whole.subarray(0, whole.length / 2)),
    newer: await changed(
      "newer.db",
      "INSERT INTO schema_migrations (migration_id, name) VALUES (999, 'next')",
    ),
    strange: await changed("strange.db", "CREATE TABLE a (b)", ""),
    keyless: await changed("keyless.db", "DELETE FROM root_key"),
    runs: {
      usual: place.run,
      unfilled: await another({}),
      memory: await another({ ACCOUNTLINK_STORAGE: "memory" }),
      redis: await another(storageAt("redis://127.0.0.1:1")),
      otherDeployment: await another({ ACCOUNTLINK_DATA_DIR: data, ACCOUNTLINK_DEPLOYMENT: "another" }),
      inFile: await another({ ACCOUNTLINK_DATA_DIR: join(place.folder, "plain", "data") }),
      withoutPrograms: await another({ ...onPostgres, PATH: "/none" }),
      oldPrograms: await another({ ...onPostgres, PATH: place.folder }),
    },
  };
};

type Places = Awaited<ReturnType<typeof makePlaces>>;

const anEarlierOne = "expected a whole file that accountlink backup wrote, such as an earlier one";
const usableFolder = "expected a folder that can be made and written to";
const unlike = "expected the one that it was made with or last rotated to";

/** How a command is provoked, and its refusal, with `…` between the parts. Names in braces are paths of `Places`. */
type Refusal = readonly [by: keyof Places["runs"], words: string, told: string];
const refusals: ReadonlyArray<Refusal> = [
  ...Object.entries({
    none: "there is no such file",
    folder: "it is not a file",
    empty: "it is empty",
    plain: "is not a database",
    half: "is malformed",
    strange: "it has no tables",
    keyless: "it holds no data",
  }).map(
    ([name, reason]): Refusal => [
      "usual",
      `restore {${name}} --replace`,
      `Cannot use backup "{${name}}": … ${reason} … ${anEarlierOne}`,
    ],
  ),
  [
    "usual",
    "restore {newer} --replace",
    'Cannot use backup "{newer}": … its schema is version 999 … ' +
      "expected one of this release or an earlier one: install the release that made it",
  ],
  [
    "usual",
    "restore {foreign} --replace",
    `Cannot restore: … the secret of the backup "{foreign}" … ${unlike}`,
  ],
  ["usual", "restore {backup}", 'Cannot restore into data folder "{data}": … it holds data … or --replace'],
  [
    "inFile",
    "restore {backup}",
    `Cannot restore: ACCOUNTLINK_DATA_DIR is "{plain}/data" … ENOTDIR … ${usableFolder}`,
  ],
  ["withoutPrograms", "restore {backup}", "Cannot run pg_restore: … it is not installed … postgresql-client"],
  [
    "oldPrograms",
    "restore {backup}",
    "Cannot run pg_restore: … unsupported version (1.16) in file header … " +
      "expected the programs of the server's version or later",
  ],
  ["usual", "backup {plain}", `Cannot write a backup into "{plain}": … EEXIST … ${usableFolder}`],
  [
    "unfilled",
    "backup {none}",
    "Cannot back up data folder … it holds no data … expected the storage of a server",
  ],
  [
    "usual",
    "move",
    "Cannot move the data: --to is not set … ACCOUNTLINK_MOVE_TO … expected the storage to move to",
  ],
  ...["data", "otherData"].map(
    (target): Refusal => [
      "usual",
      `move --to {${target}}`,
      `Cannot move the data from data folder "{data}" to data folder "{${target}}": … ` +
        "the target holds data … expected an empty one",
    ],
  ),
  [
    "usual",
    "move --to {otherSecret}",
    "Cannot move the data: ACCOUNTLINK_SECRET is not set … " +
      `"{otherSecret}/secret" does not hold the secret of data folder "{data}" … ${unlike}`,
  ],
  ...[
    ["move --to {none}", "Cannot move the data", "the storage"],
    ["restore {backup} --replace", "Cannot restore", 'the backup "{backup}"'],
    ["backup {none}", "Cannot back up", "the storage"],
  ].map(
    ([words = "", action = "", what = ""]): Refusal => [
      "otherDeployment",
      words,
      `${action}: ACCOUNTLINK_DEPLOYMENT is "another" … ${what} is of deployment … expected the one that is named`,
    ],
  ),
  ...Object.entries({ "restore {backup}": "Cannot restore", "backup {none}": "Cannot back up" }).flatMap(
    ([words, action]): ReadonlyArray<Refusal> => [
      ["memory", words, `${action} storage "memory": … only inside its server … expected embedded`],
      ["redis", words, `${action} storage "redis": … files of its own … docs/operating.md`],
    ],
  ),
  [
    "usual",
    "move --to {plain}",
    `Cannot move the data: the target is "{plain}" … it is not a folder … ${usableFolder}`,
  ],
  [
    "unfilled",
    "move --to {none}",
    "Cannot open the database: data folder … holds none … expected the folder",
  ],
  ["memory", "move --to {none}", 'Cannot move the data: ACCOUNTLINK_STORAGE … "memory" … expected embedded'],
];

it("backup, restore and move refuse with the value, what was expected, and a way out", async () => {
  const places = await makePlaces();
  const { place, data, runs } = places;
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name as "data"]);
  const database = join(data, "accountlink.db");
  const [before, names] = [readFileSync(database), readdirSync(place.folder)];
  for (const [by, words, told] of refusals) {
    const { code, stdout, stderr } = await runs[by](...words.split(" ").map(filled));
    const [begins = "", ...others] = told.split(" … ").map(filled);
    expect([words, code, stdout]).toEqual([words, 1, ""]);
    expect(stderr.slice(0, begins.length)).toBe(begins);
    for (const part of others) expect(stderr).toContain(part);
    expect(stderr).not.toContain("hidden");
    expect(readFileSync(database).equals(before)).toBe(true);
    expect([words, readdirSync(place.folder)]).toEqual([words, names]);
  }

  const refused = `ACCOUNTLINK_DATA_DIR is "${places.plain}/data", ${usableFolder}`;
  for (const words of ["serve", "keys list --account acme"])
    expect((await runs.inFile(...words.split(" "))).stderr).toContain(refused);
  const examined = await runs.inFile("doctor");
  expect(examined.stdout).toContain(`fail  data folder    ${refused}`);
  expect(examined.stdout).toContain("Name a folder in ACCOUNTLINK_DATA_DIR");

  await place.serve();
  for (const [words, begins] of [
    ["restore {backup} --replace", "Cannot restore"],
    ["move --to {none}", "Cannot move the data"],
  ] as const) {
    expect((await place.run(...words.split(" ").map(filled))).stderr).toBe(
      `${begins}: data folder "${data}" is in use by process ${process.pid}, expected a stopped server\n`,
    );
    expect(readdirSync(place.folder)).toEqual(names);
  }
});

const closed = "EACCES: permission denied";
const notUsable = (path: string) =>
  `expected a folder that can be made and written to (${closed}, access '${path}')`;
const asItsUser = "Run the doctor as the user of the server, or give that user the folder and its files";

/** Rights that are missing, how commands notice it, and parts of what they say. `{d}` is the data folder. */
const missingRights: ReadonlyArray<
  readonly [
    mode: number,
    path: string,
    commands: ReadonlyArray<string>,
    says: ReadonlyArray<string>,
    advice: string,
  ]
> = [
  ...[
    [0o500, ""],
    [0, ""],
    [0o400, "/accountlink.db"],
    [0, "/accountlink.db"],
    [0, "/accountlink.db-wal"],
    [0o400, "/server.lock"],
  ].map(([mode, file]) => {
    const path = `{d}${file}`;
    const inside = mode === 0 && file === "" ? "{d}" : path;
    return [
      mode as number,
      path,
      ["serve", "backup {d}-none", "restore {backup} --replace", "move --to {d}-none", "doctor"],
      ['ACCOUNTLINK_DATA_DIR is "{d}"', notUsable(inside)],
      asItsUser,
    ] as const;
  }),
  [
    0,
    "{d}/secret",
    ["serve", "backup {d}-none", "restore {backup} --replace", "move --to {d}-none", "doctor"],
    [
      `secret file "{d}/secret" cannot be read (${closed}`,
      "expected one that the user of this process may read",
    ],
    "Set ACCOUNTLINK_SECRET, or let the user of the server read its file",
  ],
  [
    0o500,
    "{d}/backups",
    ["backup {d}/backups", "doctor"],
    ['"{d}/backups"', closed],
    "Give the folder to the user of the server",
  ],
  [
    0,
    "{d}/copy.db",
    ["restore {d}/copy.db --replace"],
    ['Cannot use backup "{d}/copy.db"', closed, "may read"],
    "",
  ],
  [
    0,
    "{d}/copies",
    ["restore {d}/copies/copy.db --replace"],
    ['Cannot use backup "{d}/copies/copy.db"', closed, "may read"],
    "",
  ],
  [
    0o500,
    "{d}/copies",
    ["move --to {d}/copies"],
    ['the target is "{d}/copies"', notUsable("{d}/copies")],
    "",
  ],
];

it("a user without the rights to a file is told which one, and nothing is half done", async () => {
  const { place, data, backup } = await makePlaces();
  const cases = missingRights.flatMap(([mode, path, commands, says, advice], index) =>
    commands.map((words) => {
      const folder = join(place.folder, `case-${index}-${words.split(" ", 1)[0]}`);
      const filled = (text: string) => text.replaceAll("{d}", folder).replaceAll("{backup}", backup);
      cpSync(data, folder, { recursive: true });
      for (const name of ["backups", "copies"]) mkdirSync(join(folder, name));
      for (const name of ["copy.db", "accountlink.db-wal", "server.lock"])
        writeFileSync(join(folder, name), "");
      const before = readdirSync(folder).filter((name) => !name.endsWith("-wal"));
      chmodSync(filled(path), mode);
      onTestFinished(() => chmodSync(filled(path), 0o700));
      const environment = { ...embeddedIn(folder), ACCOUNTLINK_BACKUP_DIR: join(folder, "backups") };
      return {
        folder,
        before,
        mode,
        path: filled(path),
        words: filled(words),
        says: says.map(filled),
        advice,
        environment,
      };
    }),
  );
  const ended = await runBoundByModes(cases.map(({ words, environment }) => [words.split(" "), environment]));
  for (const [index, { folder, before, path, words, says, advice }] of cases.entries()) {
    const { code, stdout, stderr } = ended[index] as (typeof ended)[0];
    const said = words === "doctor" ? stdout : stderr;
    for (const part of words === "doctor" ? [...says, advice] : says)
      expect([words, said]).toEqual([words, expect.stringContaining(part)]);
    expect([words, code]).toEqual([words, 1]);
    chmodSync(path, 0o700);
    // SQLite makes and removes its own files beside a database that it reads.
    const left = readdirSync(folder).filter((name) => !/-(?:shm|wal)$/.test(name));
    expect([words, left]).toEqual([words, before]);
    expect([words, existsSync(`${folder}-none`)]).toEqual([words, false]);
  }
});

const missing = await whyNothingShared();

it.skipIf(missing !== null)(
  `a database user without rights is told what it may not do, and nothing is half done ${missing ?? ""}`,
  async () => {
    const { database, redis, environment } = await makeShared();
    const empty = await runUntil(onTestFinished)(makePostgresDatabase());
    const { place, folder } = await makePlaces();
    const onPostgres = { ...environment, ACCOUNTLINK_CACHE: "memory", ACCOUNTLINK_PLATFORM: "none" };
    const common = { ...onPostgres, ACCOUNTLINK_PORT: "0", ACCOUNTLINK_DATABASE_START_TIMEOUT: "1 second" };
    await runInProcess(["migrate"], common);
    const user = await runUntil(onTestFinished)(makePostgresUser(database));
    const target = join(folder, "target");
    const refuse = async (
      url: string,
      words: string,
      parts: ReadonlyArray<string>,
      more: Readonly<Record<string, string>> = {},
    ) => {
      const ended = await runInProcess(words.split(" "), {
        ...common,
        ACCOUNTLINK_DATABASE_URL: url,
        ...more,
      });
      for (const part of parts) {
        expect([words, ended]).toEqual([words, expect.objectContaining({ code: 1 })]);
        expect([words, ended.stdout + ended.stderr]).toEqual([words, expect.stringContaining(part)]);
      }
    };
    const owner = "expected a user who owns the database and its tables";
    const noTable = ["permission denied for table schema_migrations", owner];
    for (const words of ["serve", "keys list", "backup {t}", "move --to {t}", "doctor"]) {
      await refuse(user.urlAt(database.url), words.replace("{t}", target), noTable);
    }
    await refuse(user.urlAt(database.url), "doctor", ["REASSIGN OWNED BY"]);
    await refuse(user.urlAt(empty.url), "serve", ["permission denied for schema public", owner]);
    await place.run("keys", "create", "--account", "acme");
    const moved = await place.run("move", "--to", user.urlAt(empty.url));
    expect(moved.stderr).toContain("permission denied for schema public");
    await Effect.runPromise(database.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user.name}`));
    await refuse(user.urlAt(database.url), "serve", ["its user may not write all of its tables", owner]);

    const onRedis = { ACCOUNTLINK_STORAGE: "redis" };
    await runInProcess(["keys", "create", "--account", "acme"], {
      ...common,
      ...onRedis,
      ACCOUNTLINK_DATABASE_URL: redis.url,
    });
    for (const [name, rules, denied] of [
      ["info", "~* &* +@all -info", "info"],
      ["eval", "~* &* +@all -@scripting", "eval"],
      ["keys", "~other:* &* +@all", "its keys"],
    ] as const) {
      await Effect.runPromise(redis.ask("ACL", "SETUSER", name, "on", ">word", ...rules.split(" ")));
      const url = redis.url.replace("//", `//${name}:word@`);
      for (const words of ["serve", `move --to ${target}`, "doctor"]) {
        await refuse(url, words, [`NOPERM, the user may not use ${denied}`], onRedis);
      }
      await refuse(
        url,
        "doctor",
        ["Let the user of ACCOUNTLINK_DATABASE_URL do what docs/operating.md lists"],
        onRedis,
      );
    }
    expect(existsSync(target)).toBe(false);

    const server = await startServer(common);
    await refuse(database.url, `move --to ${target}`, ["expected stopped servers"]);
    await server.stop();
    expect(existsSync(target)).toBe(false);
  },
);
