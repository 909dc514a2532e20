/** What other systems leave behind, each oddity of it, in every format: the same rows are taken and left out. */
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { isProof } from "@accountlink/test-servers";
import { describe, expect, it } from "vitest";
import { makeWorkplace, type Workplace } from "../test_program.ts";

const rowCount = isProof ? 200_000 : 4_000;
const scope = ["--account", "acme"];

/** A row as any system would have it; null where the column has nothing. */
interface SourceRow {
  readonly discord: string | null;
  readonly roblox: string | null;
  readonly verifiedAt: string | null;
  readonly verified: boolean;
  readonly guild: string;
}

type Reason =
  | "destroyed"
  | "no_game_id"
  | "chat_id"
  | "swapped"
  | "not_verified"
  | "repeated"
  | "conflict"
  | "time";

const good = (index: number): SourceRow => ({
  discord: String(100_000_000_000_000_000n + BigInt(index)),
  roblox: String(1 + (index % 5_000)),
  verifiedAt: index % 3 === 0 ? null : new Date(1_700_000_000_000 + index * 1_001).toISOString(),
  verified: true,
  guild: "700000000000000001",
});

/** Every seventh row or so is odd; each oddity with what becomes of it. */
const oddities: ReadonlyArray<(row: SourceRow, before: SourceRow) => readonly [SourceRow, Reason | "taken"]> =
  [
    (row) => [{ ...row, discord: "1.2E+17" }, "destroyed"],
    (row) => [{ ...row, roblox: null }, "no_game_id"],
    (row) => [{ ...row, discord: "nobody" }, "chat_id"],
    (row) => [{ ...row, discord: row.roblox, roblox: row.discord }, "swapped"],
    (row) => [{ ...row, verified: false }, "not_verified"],
    (row) => [{ ...row, verifiedAt: "yesterday" }, "time"],
    (row) => [{ ...row, discord: `  ${row.discord}\u00A0` }, "taken"],
    (_row, before) => [before, "repeated"],
    (_row, before) => [{ ...before, roblox: "77777", verifiedAt: "1999-01-01T00:00:00.000Z" }, "conflict"],
  ];

const makeRows = () => {
  const rows: Array<SourceRow> = [];
  const expected = { taken: 0, reasons: new Map<Reason, number>() };
  for (let index = 0; index < rowCount; index++) {
    const row = good(index);
    const oddity = index % 7 === 3 ? oddities[Math.floor(index / 7) % oddities.length] : undefined;
    const [written, end] = oddity?.(row, good(index - 1)) ?? ([row, "taken"] as const);
    rows.push(written);
    if (end === "taken") expected.taken++;
    else expected.reasons.set(end, (expected.reasons.get(end) ?? 0) + 1);
  }
  return { rows, expected };
};

const { rows, expected } = makeRows();

const cell = (text: string | null): string => (text === null ? "" : `"${text.replaceAll('"', '""')}"`);

const csvOf = (separator: string, lineEnd: string): string =>
  [
    ["Discord ID", "Roblox_Id", "note", "verified-at", "Verified", "guild id"].join(separator),
    ...rows.map(({ discord, roblox, verifiedAt, verified, guild }, index) =>
      [
        index % 2 === 0 ? cell(discord) : (discord ?? ""),
        index % 5 === 0 ? cell(roblox) : ` ${roblox ?? ""} `,
        index % 11 === 0 ? '"two\nlines; of, ""notes"""' : "",
        verifiedAt ?? "",
        verified ? "TRUE" : "0",
        guild,
      ].join(separator),
    ),
    "",
  ].join(lineEnd);

const objects = rows.map(({ discord, roblox, verifiedAt, verified, guild }, index) => ({
  _id: { $oid: "507f1f77bcf86cd799439011" },
  discordId:
    discord !== null && index % 4 === 0 && /^\d+$/.test(discord) ? { $numberLong: discord } : discord,
  robloxId:
    roblox !== null && index % 3 === 0 && roblox.length < 15 && /^\d+$/.test(roblox)
      ? Number(roblox)
      : roblox,
  ...(verifiedAt === null ? {} : { verifiedAt: index % 2 === 0 ? { $date: verifiedAt } : verifiedAt }),
  verified,
  guildId: guild,
}));

const withMark = (text: string) => `\uFEFF${text}`;
const asUtf16 = (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le");

const files: Readonly<Record<string, string | Buffer>> = {
  "commas.csv": csvOf(",", "\n"),
  "spreadsheet.csv": withMark(csvOf(";", "\r\n")),
  "tabs.txt": asUtf16(csvOf("\t", "\r\n")),
  "lines.ndjson": objects.map((each) => JSON.stringify(each)).join("\n"),
  "array.json": withMark(JSON.stringify(objects)),
  "pretty.json": JSON.stringify(objects, null, 2),
};

const makeDatabase = (file: string) => {
  const database = new DatabaseSync(file);
  database.exec(
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); CREATE TABLE Verifications (id INTEGER PRIMARY KEY, discord_id, roblox_id, verified_at TEXT, verified INTEGER, guild_id TEXT); BEGIN",
  );
  const insert = database.prepare(
    "INSERT INTO Verifications (discord_id, roblox_id, verified_at, verified, guild_id) VALUES (?, ?, ?, ?, ?)",
  );
  for (const [index, { discord, roblox, verifiedAt, verified, guild }] of rows.entries()) {
    const isNumber = index % 2 === 0 && discord !== null && /^\d+$/.test(discord);
    insert.run(isNumber ? BigInt(discord) : discord, roblox, verifiedAt, verified ? 1 : 0, guild);
  }
  database.exec("COMMIT");
  database.close();
};

/** What is in the store: IDs, and times where the file had one. */
const stored = async ({ run }: Workplace): Promise<ReadonlyArray<string>> => {
  const { stdout } = await run("links", "export", ...scope);
  const times = new Map(
    rows.flatMap(({ discord, verifiedAt }) => (verifiedAt === null ? [] : [[discord?.trim(), verifiedAt]])),
  );
  return stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [chatId = "", gameId = "", at = ""] = line.split(",");
      return `${chatId},${gameId},${times.has(chatId) ? at : ""}`;
    });
};

const countsOf = (outcome: Readonly<Record<string, unknown>>) => ({
  taken: outcome["taken"],
  leftOut: outcome["leftOut"],
  reasons: Object.fromEntries(
    (outcome["reasons"] as ReadonlyArray<{ readonly reason: string; readonly count: number }>).map(
      ({ reason, count }) => [reason, count],
    ),
  ),
});

const expectedCounts = {
  taken: expected.taken,
  leftOut: rowCount - expected.taken,
  reasons: Object.fromEntries(expected.reasons),
};

describe("links import", () => {
  it("takes the same of every format, right to the row", async () => {
    const place = await makeWorkplace();
    const ends: Array<ReadonlyArray<string>> = [];
    const database = join(place.folder, "bot.db");
    makeDatabase(database);
    const paths = [database];
    for (const [name, content] of Object.entries(files)) paths.push(await place.file(name, content));
    for (const file of paths) {
      const own = await makeWorkplace();
      const outcome = await own.json("links", "import", file, ...scope);
      expect({ file, ...countsOf(outcome) }).toEqual({ file, ...expectedCounts });
      ends.push(await stored(own));
      expect(ends.at(-1)).toEqual(ends[0]);
    }
    expect(ends[0]).toHaveLength(expected.taken);
  }, 600_000);

  it.runIf(isProof)(
    "has the same end after it was killed fifty times, anywhere",
    async () => {
      const whole = await makeWorkplace();
      const file = await whole.file("links.csv", csvOf(";", "\r\n"));
      await whole.json("links", "import", file, ...scope);
      const end = await stored(whole);
      const place = await makeWorkplace();
      await place.json("migrate");
      const importAll = ["links", "import", file, ...scope, "--from-start"];
      for (let time = 0; time < 50; time++) {
        const child = place.start(...importAll);
        const ended = once(child, "exit");
        await pause(50 + ((time * 7_919) % 3_000));
        child.kill("SIGKILL");
        await ended;
      }
      await place.json(...importAll);
      expect(await stored(place)).toEqual(end);
    },
    600_000,
  );

  it("takes the tables that it is told, and says which there are", async () => {
    const place = await makeWorkplace();
    const file = join(place.folder, "bot.sqlite");
    const database = new DatabaseSync(file);
    database.exec(
      "CREATE TABLE a (discord_id INTEGER, roblox_id INTEGER); CREATE TABLE b (user_id TEXT, player TEXT); CREATE TABLE c (discord, roblox);" +
        "INSERT INTO a VALUES (200000000000000001, 1); INSERT INTO b VALUES ('200000000000000002', '2');",
    );
    database.close();
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
    expect((await place.run("links", "export", ...scope)).stdout).toMatch(
      /\n200000000000000001,1,.*\n200000000000000002,2,.*\n$/,
    );
  });
});
