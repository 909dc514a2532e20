import { join } from "node:path";
import { expect, it } from "vitest";
import { inDatabase, makeWorkplace } from "../test_program.ts";

const scope = ["--account", "acme"];

it("`links import` reads the table that --table names, and lists the tables if none is named", async () => {
  const place = await makeWorkplace();
  const file = join(place.folder, "bot.sqlite");
  inDatabase(
    file,
    "CREATE TABLE a (discord_id INTEGER, roblox_id INTEGER); CREATE TABLE b (user_id TEXT, player TEXT); CREATE TABLE c (discord, roblox);" +
      "INSERT INTO a VALUES (200000000000000001, 1); INSERT INTO b VALUES ('200000000000000002', '2');",
  );
  const importing = (...more: ReadonlyArray<string>) =>
    place.json("links", "import", file, ...scope, ...more);
  const failed = (reason: string) => ({ error: `Cannot import "${file}": ${reason}` });
  expect(await importing()).toEqual(
    failed('several tables have links, expected --table with one of "a", "c"'),
  );
  expect(await importing("--table", "d")).toEqual(
    failed('it has no table "d", expected one of "a", "b", "c"'),
  );
  expect(await importing("--table", "b")).toEqual(
    failed('table "b" has other columns: expected a column of game IDs, such as gameId or roblox_id'),
  );
  expect(await importing("--table", "A")).toMatchObject({ taken: 1, leftOut: 0 });
  expect(await importing("--table", "b", "--game-column", "player")).toMatchObject({ taken: 1 });
  expect(await importing("--guild", "12345", "--table", "a")).toEqual(
    failed('table "a" has other columns: expected a column of guilds, named guildId'),
  );
  inDatabase(file, "ALTER TABLE a ADD COLUMN confirmation INTEGER; UPDATE a SET confirmation = 0");
  expect(await importing("--table", "a")).toEqual({
    error: expect.stringContaining('column "confirmation" may say when or whether') as unknown,
    unclearColumns: ["confirmation"],
    oddWords: [],
    unclearTimes: [],
  });
  expect(await importing("--table", "a", "--verified-column", "confirmation")).toMatchObject({
    taken: 0,
    leftOut: 1,
  });
  expect((await place.run("links", "export", ...scope)).stdout).toMatch(
    /\n200000000000000001,1,.*\n200000000000000002,2,.*\n$/,
  );
});

it("`links import` reads the dates of a table by those that have one reading only", async () => {
  const place = await makeWorkplace();
  const file = join(place.folder, "bot.sqlite");
  inDatabase(
    file,
    "CREATE TABLE a (discord_id TEXT, roblox_id TEXT, linked_at TEXT);" +
      "INSERT INTO a VALUES ('10001', '1', '04.05.2021'), ('10002', '2', '28.05.2021'), ('10003', '3', 'soon');",
  );
  const importing = ["links", "import", file, ...scope];
  expect(await place.json(...importing)).toMatchObject({
    unclearTimes: [{ column: "linked_at", time: "soon", isDate: false, rows: 1 }],
  });
  expect(await place.json(...importing, "--unclear-times", "unknown")).toMatchObject({ taken: 3 });
  expect((await place.run("links", "export", ...scope)).stdout).toContain("10001,1,2021-05-04T00:00");
});
