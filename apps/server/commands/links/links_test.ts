import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { ask, finish, makeWorkplace, rowsIn, type Workplace } from "../test_program.ts";

const header = "chatId,gameId,lastVerifiedAt";
const scope = ["--account", "acme"];

/** Unsorted lines of a CSV file, without header. */
const makeLines = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => {
    // Steps of a prime length visit every number below `count` once, in an unsorted order.
    const number = (index * 7_919) % count;
    const time = new Date(1_700_000_000_000 + number * 1_001).toISOString();
    return `${100_000_000_000_000_000n + BigInt(number)},${1_000_000 + (number % 50_000)},${time}`;
  });

const csvOf = (lines: ReadonlyArray<string>): string => [header, ...lines, ""].join("\n");
const jsonOf = (line: string): string => {
  const [chatId, gameId, lastVerifiedAt] = line.split(",");
  return JSON.stringify({ chatId, gameId, lastVerifiedAt });
};

const exported = async ({ run }: Workplace): Promise<ReadonlyArray<string>> => {
  const { code, stdout, stderr } = await run("links", "export", ...scope);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [first, ...lines] = stdout.trimEnd().split("\n");
  expect(first).toBe(header);
  return lines;
};

const rows = (dataFolder: string, query: string) => rowsIn(join(dataFolder, "accountlink.db"), query);

const countLinks = (dataFolder: string): number =>
  Number(rows(dataFolder, "SELECT COUNT(*) AS count FROM links")[0]?.["count"]);

const importEntries = (dataFolder: string) =>
  rows(
    dataFolder,
    "SELECT details FROM journal WHERE actor_type IS NOT NULL AND action = 'links.imported' ORDER BY sequence",
  ).map(({ details }) => JSON.parse(String(details)) as { readonly inserted: number });

const insertedByEntries = (dataFolder: string): number =>
  importEntries(dataFolder).reduce((sum, { inserted }) => sum + inserted, 0);

it("an export is sorted, and has the same bytes after its import into another scope", async () => {
  const place = await makeWorkplace();
  const lines = makeLines(1_234);
  const csv = await place.file("links.csv", csvOf(lines));
  const imported = await place.run("links", "import", csv, ...scope);
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  expect(imported.stdout).toMatch(
    /^Imported 1,234 links into the global scope of account "acme" in data folder "[^"]+\/data", in \d+\.\d s: 1,234 taken \(1,234 new, 0 replaced\), 0 unchanged, 0 kept as the store has them, 0 rows left out\nAccount "acme" did not exist, and was made\n$/,
  );
  const again = await place.run("links", "import", csv, ...scope);
  expect(again.stdout).toMatch(/^Imported 0 links into .*: 0 taken .*, 1,234 unchanged, /);
  expect(await exported(place)).toEqual(lines.toSorted());
  expect(importEntries(place.dataFolder)).toEqual([
    { file: "links.csv", inserted: 1_234, replaced: 0, unchanged: 0, kept: 0 },
  ]);

  const ndjson = join(place.folder, "links.ndjson");
  expect(await place.json("links", "export", ...scope, "--output", ndjson)).toEqual({
    file: ndjson,
    format: "ndjson",
    links: 1_234,
  });
  const content = await readFile(ndjson, "utf8");
  expect(content).toBe(`${lines.toSorted().map(jsonOf).join("\n")}\n`);
  expect((await place.run("links", "export", ...scope, "--json")).stdout).toBe(content);
  expect((await place.run("links", "export", ...scope, "--json", "--output", "-")).stdout).toBe(content);

  const other = ["--account", "other", "--guild-id", "700000000000000001"];
  expect(await place.json("links", "import", ndjson, ...other)).toMatchObject({
    links: 1_234,
    inserted: 1_234,
  });
  expect((await place.run("links", "export", ...other, "--format", "ndjson")).stdout).toBe(content);
});

it("an import skips invalid rows, but with --strict a single invalid row makes it store nothing", async () => {
  const place = await makeWorkplace();
  const wrong = Array.from({ length: 12 }, () => "12,1,");
  const file = await place.file(
    "links.csv",
    csvOf(["10001,1,2026-01-01", ...wrong, '"10002,2,', "10003,x,"]),
  );
  const refused = await place.run("links", "import", file, ...scope, "--strict");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr.trimEnd().split("\n")).toEqual([
    ...Array.from({ length: 10 }, (_, index) => `line ${index + 3}: chatId is "12", expected 5 to 32 digits`),
    "and 4 rows more",
    `Cannot import "${file}": 14 rows are wrong, expected none with --strict; nothing was stored`,
  ]);
  expect(rows(place.dataFolder, "SELECT name FROM accounts")).toEqual([]);

  const rejects = join(place.folder, "rejects.csv");
  const told = await place.run("links", "import", file, ...scope, "--dry-run", "--rejects", rejects);
  expect(told.code).toBe(0);
  expect(told.stdout.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^Would import 1 link into .*: 1 taken .*, 14 rows left out$/) as unknown,
    'Account "acme" does not exist, and would be made',
    "  12: The chat ID has a wrong form",
    ...Array.from(
      { length: 10 },
      (_, index) => `    line ${index + 3}: chatId is "12", expected 5 to 32 digits`,
    ),
    "    and 2 rows more",
    "  1: The row cannot be read",
    "    line 15: a quote is misplaced, expected cells that are quoted whole or not at all",
    "  1: The game ID has a wrong form",
    '    line 16: gameId is "x", expected 1 to 32 digits',
    `All rows that were left out are in "${rejects}"`,
  ]);
  const rows_ = (await readFile(rejects, "utf8")).trimEnd().split("\n");
  expect(rows_).toHaveLength(15);
  expect(rows_.slice(0, 2)).toEqual([
    "line,reason,row",
    '3,"chatId is ""12"", expected 5 to 32 digits","12,1,"',
  ]);
  expect(rows(place.dataFolder, "SELECT name FROM accounts")).toEqual([]);

  const skipped = await place.json("links", "import", file, ...scope);
  expect(skipped).toMatchObject({ links: 1, taken: 1, inserted: 1, leftOut: 14, isNewAccount: true });
  expect(await exported(place)).toEqual(["10001,1,2026-01-01T00:00:00.000Z"]);
  expect(importEntries(place.dataFolder)).toEqual([
    { file: "links.csv", inserted: 1, replaced: 0, unchanged: 0, kept: 0 },
  ]);
});

it("an import refuses a column that may hold verification times or states, unless a flag names the column", async () => {
  const place = await makeWorkplace();
  const file = await place.file(
    "links.csv",
    "discord_id,roblox_id,Verified?,verification,linked_since,note\n10001,1,true,no,2026-01-01,x\n10002,2,false,yes,,y\n10003,3,yes,yes,2026-01-02,z\n",
  );
  const refused = await place.run("links", "import", file, ...scope);
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr: `Cannot import "${file}": line 1: columns "verification", "linked_since" may say when or whether a link was verified, expected a choice to read or to ignore them (--time-column, --verified-column or --ignore-column)\n`,
  });
  expect(rows(place.dataFolder, "SELECT name FROM accounts")).toEqual([]);
  const explained = ["--verified-column", "verification", "--time-column", "Linked Since", "--dry-run"];
  expect(await place.json("links", "import", file, ...scope, ...explained)).toMatchObject({
    taken: 1,
    leftOut: 2,
    unreadColumns: ["note"],
  });
  const ignored = ["--ignore-column", "verification", "--ignore-column", "linked_since"];
  const told = await place.run("links", "import", file, ...scope, ...ignored);
  expect(told.stdout).toContain('\nColumns not read: "verification", "linked_since", "note"\n');
  expect(told.stdout).toContain(": 2 taken");
  expect(await place.json("links", "import", join(place.folder, "none.csv"), ...scope)).toEqual({
    error: expect.stringContaining("ENOENT") as unknown,
  });
});

it("an import counts words whose meaning is not known, and takes it from --verified-word", async () => {
  const place = await makeWorkplace();
  const words = ["yes", "Maybe", "idk", "maybe", "a=b"];
  const lines = words.map((word, index) => `${10_001 + index},1,${word}\n`);
  const file = await place.file("links.csv", `discord_id,roblox_id,status\n${lines.join("")}`);
  const refused = await place.run("links", "import", file, ...scope);
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr: [
      '"maybe" stands in column "status" of 2 rows',
      '"idk" stands in column "status" of 1 row',
      '"a=b" stands in column "status" of 1 row',
      `Cannot import "${file}": line 3: column "status" says "maybe", expected a word that says whether the link was verified (--verified-word WORD=yes, =no or =skip for each word, or --ignore-column)\n`,
    ].join("\n"),
  });
  const chosen = ["Maybe=no", "idk=skip", "a=b=yes"].flatMap((choice) => ["--verified-word", choice]);
  const counts = {
    taken: 2,
    leftOut: 3,
    reasons: [
      { reason: "not_verified", count: 2 },
      { reason: "odd_word", count: 1 },
    ],
  };
  expect(await place.json("links", "import", file, ...scope, ...chosen)).toMatchObject(counts);
  const wrong = await place.run("links", "import", file, ...scope, "--verified-word", "maybe");
  expect(wrong.stderr).toContain(
    '--verified-word is "maybe", expected a word with its meaning, such as maybe=no',
  );
});

it("an import counts unclear times, and reads them by --unclear-times or the column's other dates", async () => {
  const place = await makeWorkplace();
  const unclear = ["10001,1,04/05/2021", "10002,2,04/06/2021", "10003,3,soon"];
  const file = await place.file("links.csv", csvOf(unclear));
  const asked = await place.run("links", "import", file, ...scope);
  expect(asked).toEqual({
    code: 1,
    stdout: "",
    stderr: [
      '"04/05/2021" and the like stand in column "lastVerifiedAt" of 2 rows',
      '"soon" and the like stand in column "lastVerifiedAt" of 1 row',
      `Cannot import "${file}": line 2: column "lastVerifiedAt" says "04/05/2021", expected a date whose day and month can be told apart (--unclear-times day-first, month-first or unknown, or --ignore-column)\n`,
    ].join("\n"),
  });
  const chosen = ["--unclear-times", "month-first"];
  expect(await place.json("links", "import", file, ...scope, ...chosen)).toMatchObject({ taken: 3 });
  const [, second] = await exported(place);
  expect(second).toBe("10002,2,2021-04-06T00:00:00.000Z");
  const clear = await place.file("clear.csv", csvOf(["10004,4,04/05/2021", "10005,5,28/05/2021"]));
  expect(await place.json("links", "import", clear, ...scope)).toMatchObject({ taken: 2 });
  expect(await exported(place)).toContain("10004,4,2021-05-04T00:00:00.000Z");
});

it("an import with --on-conflict replace replaces links, and a dry run reports the same numbers", async () => {
  const place = await makeWorkplace();
  await place.json("links", "import", await place.file("first.csv", csvOf(["10001,1,2026-01-01"])), ...scope);
  const file = await place.file("second.csv", csvOf(["10001,9,2026-01-01", "10002,2,2026-01-01"]));
  const importing = ["links", "import", file, ...scope, "--on-conflict", "replace"];
  const counts = { links: 2, inserted: 1, replaced: 1, unchanged: 0, kept: 0 };
  expect(await place.json(...importing, "--dry-run")).toMatchObject({ dryRun: true, ...counts });
  expect(await exported(place)).toEqual(["10001,1,2026-01-01T00:00:00.000Z"]);
  expect(await place.json(...importing)).toMatchObject({ dryRun: false, ...counts });
  expect((await exported(place))[0]).toBe("10001,9,2026-01-01T00:00:00.000Z");
});

it("an import reads from standard input", async () => {
  const place = await makeWorkplace();
  const flags = ["links", "import", "-", ...scope, "--format", "csv", "--json"];
  const lines = makeLines(200);
  const imported = await place.runWith(csvOf(lines), ...flags);
  expect(JSON.parse(imported.stdout)).toMatchObject({ links: 200, inserted: 200, resumedAfter: 0 });
  expect(await exported(place)).toEqual(lines.toSorted());
  const late = [...makeLines(10_050).slice(200), "wrong"];
  const refused = await place.runWith(csvOf(late), ...flags, "--strict");
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({ wrong: 1, stored: 0 });
});

it("an import can read from a named pipe, and an export can write to a named pipe", async () => {
  const place = await makeWorkplace();
  const pipe = join(place.folder, "pipe.csv");
  execFileSync("mkfifo", [pipe]);
  const lines = makeLines(2_000);
  const importing = place.json("links", "import", pipe, ...scope);
  await writeFile(pipe, csvOf(lines));
  expect(await importing).toMatchObject({ links: 2_000, inserted: 2_000, leftOut: 0 });
  const exporting = place.json("links", "export", ...scope, "--output", pipe);
  expect(await readFile(pipe, "utf8")).toBe(csvOf(lines.toSorted()));
  expect(await exporting).toEqual({ file: pipe, format: "csv", links: 2_000 });
});

it("an import resumes after kill -9", async () => {
  const place = await makeWorkplace();
  const lines = makeLines(30_000);
  const file = await place.file("links.csv", csvOf(lines));
  await place.json("migrate");
  const child = place.start("links", "import", file, ...scope);
  while (countLinks(place.dataFolder) === 0 && child.exitCode === null) await pause(5);
  child.kill("SIGKILL");
  await once(child, "exit");
  const stored = countLinks(place.dataFolder);
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThan(lines.length);
  expect(insertedByEntries(place.dataFolder)).toBe(stored);

  expect(await place.json("links", "import", file, ...scope)).toMatchObject({
    resumedAfter: stored,
    inserted: lines.length - stored,
    kept: 0,
  });
  expect(await exported(place)).toEqual(lines.toSorted());
});

it("an interrupted import says how to continue", async () => {
  const place = await makeWorkplace();
  const file = await place.file("links.csv", csvOf(makeLines(30_000)));
  await place.json("migrate");
  const child = place.start("links", "import", file, ...scope);
  const ending = finish(child);
  while (countLinks(place.dataFolder) === 0 && child.exitCode === null) await pause(5);
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ending;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toBe("Interrupted: what was stored stays, and the same command continues from there\n");
  expect(insertedByEntries(place.dataFolder)).toBe(countLinks(place.dataFolder));
});

it("an exported file appears at its path only when it is complete", async () => {
  const place = await makeWorkplace();
  const file = await place.file("links.csv", csvOf(makeLines(20)));
  await place.json("links", "import", file, ...scope);
  expect(await place.json("links", "export", "--account", "nobody", "--output", file)).toEqual({
    error:
      'Cannot export links: account "nobody" has no global scope, expected one that a key or an import made',
  });
  expect(await readFile(file, "utf8")).toBe(csvOf(makeLines(20)));

  const link = join(place.folder, "link.csv");
  await symlink(file, link);
  for (const taken of [file, link]) {
    expect(await place.json("links", "export", ...scope, "--output", taken)).toEqual({
      error: `Cannot write "${taken}": it exists, expected a new file (--force replaces it)`,
    });
    expect(await readFile(file, "utf8")).toBe(csvOf(makeLines(20)));
  }
  await place.json("links", "export", ...scope, "--output", link, "--force");
  expect(await readFile(file, "utf8")).toBe(csvOf(makeLines(20).toSorted()));
  const nowhere = join(place.folder, "none", "links.csv");
  expect(await place.json("links", "export", ...scope, "--output", nowhere)).toEqual({
    error: expect.stringContaining(`Cannot write "${nowhere}": ENOENT`) as unknown,
  });
  expect(existsSync(nowhere)).toBe(false);
  expect((await readdir(place.folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
});

it("an import ends when the data of its scope is deleted, and stores nothing after that", async () => {
  const place = await makeWorkplace();
  const lines = makeLines(21_000);
  const pipe = join(place.folder, "pipe.csv");
  execFileSync("mkfifo", [pipe]);
  const importing = place.run("links", "import", pipe, ...scope);
  const writing = await open(pipe, "w");
  await writing.writeFile(csvOf(lines.slice(0, 20_500)));
  await expect.poll(() => countLinks(place.dataFolder)).toBe(20_000);
  const { token } = await place.json("keys", "create", ...scope);
  const url = await place.serve();
  const deleted = await ask(url, token, "DELETE /v2/data", { confirm: true });
  expect(await deleted.json()).toMatchObject({ status: 200 });
  await writing.writeFile([...lines.slice(20_500), ""].join("\n"));
  await writing.close();
  const { code, stderr } = await importing;
  expect(code).toBe(1);
  expect(stderr).toContain("the data of the scope was deleted meanwhile");
  expect(countLinks(place.dataFolder)).toBe(0);
});
