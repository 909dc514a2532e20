/** Each refusal of backup, restore and move says what failed, of what, what was expected, and changes nothing. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { makeWorkplace } from "../test_program.ts";

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
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
    return path;
  };
  const otherSecret = join(place.folder, "other");
  mkdirSync(otherSecret);
  await place.file("other/secret", Buffer.alloc(32, "s").toString("base64"));
  const another = async (environment: Readonly<Record<string, string>>) =>
    (await makeWorkplace(environment)).run;
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
      redis: await another({
        ACCOUNTLINK_STORAGE: "redis",
        ACCOUNTLINK_DATABASE_URL: "redis://127.0.0.1:1",
        ACCOUNTLINK_SECRET: Buffer.alloc(32, "s").toString("base64"),
      }),
      otherSecret: await another({
        ACCOUNTLINK_DATA_DIR: data,
        ACCOUNTLINK_SECRET: Buffer.alloc(32, "s").toString("base64"),
      }),
      otherDeployment: await another({ ACCOUNTLINK_DATA_DIR: data, ACCOUNTLINK_DEPLOYMENT: "another" }),
      inFile: await another({ ACCOUNTLINK_DATA_DIR: join(place.folder, "plain", "data") }),
      withoutPrograms: await another({
        ACCOUNTLINK_STORAGE: "postgres",
        ACCOUNTLINK_DATABASE_URL: "postgres://user:hidden@127.0.0.1:1/data",
        ACCOUNTLINK_SECRET: Buffer.alloc(32, "s").toString("base64"),
        PATH: "/none",
      }),
    },
  };
};

type Places = Awaited<ReturnType<typeof makePlaces>>;

const anEarlierOne = "expected a whole file that accountlink backup wrote, such as an earlier one";
const usableFolder = "expected a folder that can be made and written to";
const unlike = "expected the one that it was made with or last rotated to";

/** How a command is provoked, and parts of its refusal. Names in braces are paths of `Places`. */
const refusals: ReadonlyArray<
  readonly [by: keyof Places["runs"], words: string, begins: string, reason: string, expected: string]
> = [
  ["usual", "restore {none} --replace", 'Cannot use backup "{none}":', "there is no such file", anEarlierOne],
  ["usual", "restore {folder} --replace", 'Cannot use backup "{folder}":', "it is not a file", anEarlierOne],
  ["usual", "restore {empty} --replace", 'Cannot use backup "{empty}":', "it is empty", anEarlierOne],
  ["usual", "restore {plain} --replace", 'Cannot use backup "{plain}":', "is not a database", anEarlierOne],
  ["usual", "restore {half} --replace", 'Cannot use backup "{half}":', "is malformed", anEarlierOne],
  [
    "usual",
    "restore {strange} --replace",
    'Cannot use backup "{strange}":',
    "it has no tables",
    anEarlierOne,
  ],
  [
    "usual",
    "restore {keyless} --replace",
    'Cannot use backup "{keyless}":',
    "it holds no data",
    anEarlierOne,
  ],
  [
    "usual",
    "restore {newer} --replace",
    'Cannot use backup "{newer}":',
    "its schema is version 999",
    "expected one of this release or an earlier one: install the release that made it",
  ],
  ["usual", "restore {foreign} --replace", "Cannot restore:", 'the secret of the backup "{foreign}"', unlike],
  ["usual", "restore {backup}", 'Cannot restore into data folder "{data}":', "it holds data", "or --replace"],
  [
    "inFile",
    "restore {backup}",
    'Cannot restore: ACCOUNTLINK_DATA_DIR is "{plain}/data"',
    "ENOTDIR",
    usableFolder,
  ],
  [
    "memory",
    "restore {backup}",
    'Cannot restore storage "memory":',
    "only inside its server",
    "expected embedded",
  ],
  ["redis", "restore {backup}", 'Cannot restore storage "redis":', "files of its own", "docs/operating.md"],
  [
    "withoutPrograms",
    "restore {backup}",
    "Cannot run pg_restore:",
    "it is not installed",
    "postgresql-client",
  ],
  ["usual", "backup {plain}", 'Cannot write a backup into "{plain}":', "EEXIST", usableFolder],
  [
    "unfilled",
    "backup {none}",
    "Cannot back up data folder",
    "it holds no data",
    "expected the folder of a server",
  ],
  [
    "memory",
    "backup {none}",
    'Cannot back up storage "memory":',
    "only inside its server",
    "expected embedded",
  ],
  ["redis", "backup {none}", 'Cannot back up storage "redis":', "files of its own", "docs/operating.md"],
  ["otherSecret", "backup {none}", "Cannot back up: ACCOUNTLINK_SECRET", 'data folder "{data}"', unlike],
  [
    "usual",
    "move",
    "Cannot move the data: --to is not set",
    "ACCOUNTLINK_MOVE_TO",
    "expected the storage to move to",
  ],
  ["usual", "move --to mysql://a:hidden@b/c", "Cannot move the data: --to", '"mysql:"', "or a folder"],
  [
    "usual",
    "move --to {data}",
    'Cannot move the data from data folder "{data}" to data folder "{data}":',
    "the target holds data",
    "expected an empty one",
  ],
  [
    "usual",
    "move --to {otherSecret}",
    "Cannot move the data: ACCOUNTLINK_SECRET is not set",
    '"{otherSecret}/secret" does not hold the secret of data folder "{data}"',
    unlike,
  ],
  [
    "otherDeployment",
    "move --to {none}",
    'Cannot move the data: ACCOUNTLINK_DEPLOYMENT is "another"',
    "the storage is of deployment",
    "expected the one that is named",
  ],
  [
    "otherDeployment",
    "restore {backup} --replace",
    'Cannot restore: ACCOUNTLINK_DEPLOYMENT is "another"',
    'the backup "{backup}" is of deployment',
    "expected the one that is named",
  ],
  [
    "otherDeployment",
    "backup {none}",
    'Cannot back up: ACCOUNTLINK_DEPLOYMENT is "another"',
    "the storage is of deployment",
    "expected the one that is named",
  ],
  [
    "usual",
    "move --to {plain}",
    'Cannot move the data: the target is "{plain}"',
    "it is not a folder",
    usableFolder,
  ],
  [
    "unfilled",
    "move --to {none}",
    "Cannot open the database: data folder",
    "holds none",
    "expected the folder",
  ],
  [
    "memory",
    "move --to {none}",
    "Cannot move the data: ACCOUNTLINK_STORAGE",
    '"memory"',
    "expected embedded",
  ],
  [
    "usual",
    "move --to {otherData}",
    'Cannot move the data from data folder "{data}" to data folder "{otherData}":',
    "the target holds data",
    "expected an empty one",
  ],
];

it("backup, restore and move refuse with the value, what was expected, and a way out", async () => {
  const places = await makePlaces();
  const { place, data, runs } = places;
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name as "data"]);
  const database = join(data, "accountlink.db");
  const [before, names] = [readFileSync(database), readdirSync(place.folder)];
  for (const [by, words, ...parts] of refusals) {
    const { code, stdout, stderr } = await runs[by](...words.split(" ").map(filled));
    const [begins = "", ...others] = parts.map(filled);
    expect([words, code, stdout]).toEqual([words, 1, ""]);
    expect(stderr.startsWith(begins), `${stderr} begins with ${begins}`).toBe(true);
    for (const part of others) expect(stderr).toContain(part);
    expect(stderr).not.toContain("hidden");
    expect(readFileSync(database).equals(before)).toBe(true);
    expect(readdirSync(place.folder), words).toEqual(names);
  }

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
