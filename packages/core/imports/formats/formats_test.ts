import { expect, it, test } from "@accountlink/test-servers/effect";
import { Effect, Option } from "effect";
import type { GuildId } from "../../ids.ts";
import { formatOfName, linkFormats } from "./link_formats.ts";
import { encoder, link, parse, parseBytes, problemsOf, reasonsOf, unreadable } from "./test_parsing.ts";
import {
  exampleTime,
  missingTimes,
  timeForms,
  unverifiedWords,
  verifiedWords,
  zeroTimes,
} from "./written_forms.ts";

const time = Date.parse("2026-01-01T00:00:00.000Z");

const csv =
  'chatId,gameId,lastVerifiedAt\r\n10001,1,2026-01-01T00:00:00.000Z\r\n\r\n10002,2,\r\n"10003","3",1970-01-01';
const ndjson = [
  '{"chatId":"10001","gameId":"1","lastVerifiedAt":"2026-01-01T00:00:00.000Z"}',
  "",
  '{"gameId":"2","chatId":"10002","lastVerifiedAt":null}',
  '{"chatId":"10003","gameId":"3","lastVerifiedAt":"1970-01-01T01:00:00+01:00"}',
].join("\r\n");
const array =
  '[\n {"chatId": "10001", "gameId": "1", "lastVerifiedAt": "2026-01-01"},\n {"chatId": "10002",\n "gameId": "2", "note": "a \\"quoted\\" ]},{ note\\\\"},\n\n{"chatId":"10003","gameId":"3","lastVerifiedAt":"1970-01-01","more":{"deep":[1,{}]}}]\n';
const sequence =
  '{\n  "chatId": "10001",\n  "gameId": "1", "lastVerifiedAt": "2026-01-01"\n}\n{ "chatId": "10002", "gameId": "2" }\n{\n"chatId":"10003","gameId":"3","lastVerifiedAt":"1970-01-01"}';

test.each([
  { format: "csv" as const, content: csv, lines: [2, 4, 5] },
  { format: "ndjson" as const, content: ndjson, lines: [1, 3, 4] },
  { format: "json" as const, content: array, lines: [2, 3, 6] },
  { format: "json" as const, content: sequence, lines: [1, 5, 6] },
])("a reader reads $format in any pieces", function* ({ format, content, lines: [a = 0, b = 0, c = 0] }) {
  const expected = [link(a, "10001", "1", time), link(b, "10002", "2", null), link(c, "10003", "3", null)];
  for (const size of [1, 2, 3, 7, 64, 1_000]) {
    expect(yield* parse(content, format, size)).toEqual(expected);
    expect(yield* parse(content, "auto", size)).toEqual(expected);
  }
});

test("a reader accepts a JSON object that maps chat IDs to game IDs, on one line or several", function* () {
  const object = {
    100001: "1",
    100002: { $numberLong: "2" },
    100003: 3,
    100004: { robloxId: "4" },
    100005: null,
  };
  for (const text of [
    JSON.stringify(object),
    JSON.stringify(object, null, 2),
    `{"100001":"1",\n${JSON.stringify(object).slice(14)}`,
  ]) {
    for (const size of [1, 5, 1_000]) {
      expect(reasonsOf(yield* parse(text, "auto", size))).toEqual([
        "100001 1",
        "100002 2",
        "100003 3",
        "100004 4",
        "no_game_id",
      ]);
    }
  }
  for (const text of ["{}", "[]"]) expect(yield* parse(text)).toEqual([]);
  const rows = reasonsOf(yield* parse('{"x2":"2","100001":"1","x3":"3"}'));
  expect(rows).toEqual(["chat_id", "100001 1", "chat_id"]);
});

test("a reader accepts an array of rows that is the only property of an object, in any pieces", function* () {
  const rows = [
    { discordId: "100001", robloxId: "1" },
    { discordId: "100002", robloxId: "2" },
  ];
  for (const text of [JSON.stringify({ members: rows }), JSON.stringify({ members: rows }, null, 2)]) {
    for (const size of [1, 7, 1_000]) {
      expect(reasonsOf(yield* parse(text, "auto", size))).toEqual(["100001 1", "100002 2"]);
    }
    expect(yield* unreadable(text.slice(0, -1))).toContain("the file ends within its JSON");
    expect(yield* unreadable(`${text}}`)).toContain("text follows the end of the JSON");
  }
});

test("a reader finds the header of a CSV file below titles, and names the first line if there is none", function* () {
  const rows = 'discordId,robloxId,note\n100001,1,"two\nlines"\n100002,2,x\n';
  for (const titles of ["Verified members\n", "Verified members,,\nof Rook,2026\n\nAll\n"]) {
    const found = yield* parse(titles + rows);
    expect(reasonsOf(found)).toEqual(["100001 1", "100002 2"]);
  }
  expect(yield* unreadable(`a,b\n${"1,2\n".repeat(3)}${rows}`)).toContain('line 1: the header is "a,b"');
});

test("a reader detects encodings by the byte order mark, and UTF-16 without one", function* () {
  const text = "Discord ID;Roblox ID\r\n100001;1\r\n";
  const wide = Array.from(text, (character) => character.charCodeAt(0));
  const little = wide.flatMap((code) => [code & 255, code >> 8]);
  const big = wide.flatMap((code) => [code >> 8, code & 255]);
  for (const bytes of [
    [0xef, 0xbb, 0xbf, ...encoder.encode(text)],
    [0xff, 0xfe, ...little],
    [0xfe, 0xff, ...big],
    little,
    big,
  ]) {
    for (const size of [1, 3, 1_000]) {
      expect(yield* parseBytes(new Uint8Array(bytes), "auto", size)).toEqual([link(2, "100001", "1", null)]);
    }
  }
});

test.each([
  "Discord ID,Roblox ID",
  "discord_id;roblox_id",
  "DISCORD-USER-ID\tROBLOX USER ID",
  "chatid,gameid",
  "chatId, gameId",
  '"discord","roblox"',
  "user_id,default_account_id",
  "_id,robloxID",
  "userId,primaryAccount",
  "discordId|robloxId",
  "sep=;\ndiscordId;robloxId",
  '"sep=|"\ndiscordId|robloxId',
  "SEP=^\ndiscordId^robloxId",
  '"Sep=\t"\ndiscordId\trobloxId',
])("a reader finds the columns of %j", function* (header) {
  const separator = /[;\t|^]/.exec(header.replace(/^.*\n/, ""))?.[0] ?? ",";
  const rows = yield* parse(`${header}\n 100001 ${separator}"1"\n`);
  expect(reasonsOf(rows)).toEqual(["100001 1"]);
});

test("a reader uses the ID column with the most specific name, unless the options name another", function* () {
  const header = "id,user_id,discord_id,roblox,roblox_id,Link: Player";
  const content = `${header}\n7,10007,10001,ada,1,5\n`;
  expect(reasonsOf(yield* parse(content))).toEqual(["10001 1"]);
  const options = { chatColumn: "User-ID", gameColumn: "Link: Player" };
  expect(reasonsOf(yield* parse(content, "csv", 100, options))).toEqual(["10007 5"]);
  expect(
    reasonsOf(yield* parse('{"a":"10001","b":"1"}', "auto", 100, { chatColumn: "a", gameColumn: "b" })),
  ).toEqual(["10001 1"]);
});

test("a reader leaves out unverified links and, if a guild is chosen, the rows of other guilds", function* () {
  const content = `discord_id,roblox_id,verified,guild_id\n10001,1,true,70001\n10002,1,0,70001\n10003,1,FALSE,70001\n10004,1,pending,70001\n10005,1,1,70002\n10006,1,,\n`;
  const linked = ["10001 1", "not_verified", "not_verified", "not_verified", "10005 1", "not_verified"];
  expect(reasonsOf(yield* parse(content))).toEqual(linked);
  const guildId = "70001" as GuildId;
  expect(reasonsOf(yield* parse(content, "auto", 100, { guildId }))).toEqual([
    ...linked.slice(0, 4),
    "other_guild",
    "other_guild",
  ]);
  const json =
    '[{"discordId":"10001","robloxId":"1","verified":false},{"discordId":"10002","robloxId":"1","verified":true,"status":"pending"}]';
  expect(reasonsOf(yield* parse(json))).toEqual(["not_verified", "not_verified"]);
  const without = yield* Effect.flip(parse("discordId,robloxId\n", "csv", 100, { guildId }));
  expect(String(without)).toContain("expected a column of guilds, named guildId");
});

test.each(["is_verified", "isVerified", "Verified?", "verified", "Status"])(
  "a reader takes or leaves out a row by the word in its column %s",
  function* (name) {
    const all = [...verifiedWords, ...unverifiedWords, ""];
    for (const word of [...all, ...all.map((each) => each.toUpperCase())]) {
      const isVerified = verifiedWords.has(word.toLowerCase());
      const expected = [isVerified ? "10001 1" : "not_verified", "10002 2"];
      const csvText = `discord_id,roblox_id,${name},note\n10001,1,${word},n\n10002,2,yes,n\n`;
      expect([word, reasonsOf(yield* parse(csvText))]).toEqual([word, expected]);
      const json = JSON.stringify([
        { discordId: "10001", robloxId: "1", [name]: word },
        { discordId: "10002", robloxId: "2", [name]: { $numberInt: "1" } },
      ]);
      expect([word, reasonsOf(yield* parse(json))]).toEqual([word, expected]);
    }
    for (const [value, reason] of [
      [true, "10001 1"],
      [1, "10001 1"],
      [0, "not_verified"],
      [null, "not_verified"],
    ]) {
      const json = JSON.stringify([{ discordId: "10001", robloxId: "1", [name]: value }]);
      expect(reasonsOf(yield* parse(json))).toEqual([reason]);
    }
    const unclear = `discord_id,roblox_id,${name}\n10001,1,yes\n10002,2,maybe\n`;
    expect(yield* Effect.flip(parse(unclear))).toMatchObject({
      line: 3,
      reason: `column "${name}" says "maybe", expected a word that says whether the link was verified`,
      unclearColumns: [name],
      oddWords: [{ column: name, word: "maybe", rows: 1 }],
    });
    const options = { ignoreColumns: [name] };
    expect(reasonsOf(yield* parse(unclear, "auto", 100, options))).toEqual(["10001 1", "10002 2"]);
  },
);

const timeColumns = "verifiedAt verified_on verification_date linked_at linkedAt created_at timestamp";

test.each(timeColumns.split(" "))("a reader takes times from the column %s", function* (name) {
  const rows = yield* parse(`discord_id,roblox_id,${name}\n10001,1,2026-01-01\n`);
  expect(rows).toEqual([link(2, "10001", "1", time)]);
});

test("a reader takes a link's time from `verified_at`, unless the options name another column", function* () {
  const content =
    "discord_id,roblox_id,created_at,linked_since,verified_at,stage\n10001,1,2020-01-01,2026-01-01,2021-01-01,pending\n";
  const options = { ignoreColumns: ["Linked since"], unreadColumns: new Set<string>() };
  expect(yield* parse(content, "auto", 100, options)).toEqual([
    link(2, "10001", "1", Date.parse("2021-01-01")),
  ]);
  expect([...options.unreadColumns]).toEqual(["created_at", "linked_since", "stage"]);
  const named = { timeColumn: "linked since" };
  expect(yield* parse(content, "auto", 100, named)).toEqual([link(2, "10001", "1", time)]);
  expect(reasonsOf(yield* parse(content, "csv", 100, { ...named, verifiedColumn: "Stage" }))).toEqual([
    "not_verified",
  ]);
  for (const missing of [{ timeColumn: "when" }, { verifiedColumn: "when" }]) {
    expect(String(yield* Effect.flip(parse(content, "csv", 100, missing)))).toContain(
      'expected a column named "when"',
    );
  }
});

const unclearColumns =
  "verification,HasVerifiedBadge,email_confirmed,RobloxStatus,updatedAt,joined_on,last-seen,Link date,linkedsince_ts";

test.each(unclearColumns.split(","))(
  "a reader refuses the column %s until the options explain it",
  function* (name) {
    for (const content of [
      `discord_id,roblox_id,${name}\n10001,1,no\n`,
      JSON.stringify([{ discord_id: "10001", roblox_id: "1", [name]: "no" }]),
    ]) {
      expect(yield* Effect.flip(parse(content))).toMatchObject({ line: 1, unclearColumns: [name] });
      expect(reasonsOf(yield* parse(content, "auto", 100, { ignoreColumns: [name] }))).toEqual(["10001 1"]);
    }
  },
);

test("a reader reports the columns that it does not read, up to 100, and still reads the file", function* () {
  const names = ["username", "region", "note", "avatar", "timezone", "candidates", "guildId", "__v"];
  const unreadColumns = new Set<string>();
  yield* parse(`discord_id,roblox_id,${names.join(",")}\n`, "csv", 100, { unreadColumns });
  expect([...unreadColumns]).toEqual(names);
  const objects = Array.from({ length: 200 }, (_, index) => ({
    discordId: "10001",
    robloxId: "1",
    [`x${index}`]: 1,
  }));
  unreadColumns.clear();
  yield* parse(JSON.stringify(objects), "json", 1_000, { unreadColumns });
  expect(unreadColumns.size).toBe(100);
  const [row, other] = [
    '{"_id":"10002","discordId":"10002","robloxId":"2"}',
    '{"_id":"10001","robloxId":"1"}',
  ];
  for (const rows of [`[${other},${row}]`, `[${row},${other}]`]) {
    unreadColumns.clear();
    expect(yield* parse(rows, "auto", 1_000, { unreadColumns })).toHaveLength(2);
    expect([...unreadColumns], "columns that any row is read by").toEqual([]);
  }
});

test("a reader refuses numbers that have lost digits", function* () {
  const spreadsheet = "a spreadsheet has destroyed the number, export it again with the column as text";
  const rows = yield* parse(
    'Discord ID;Roblox ID\n1.2E+17;1\n"2,00E+17";1\n100001;1e5\n123456789012345680.0;1\n100002;1,000\n100002;1234.0\n',
  );
  expect(problemsOf(rows)).toEqual([
    `2: chatId is "1.2E+17": ${spreadsheet}`,
    `3: chatId is "2,00E+17": ${spreadsheet}`,
    `4: gameId is "1e5": ${spreadsheet}`,
    `5: chatId is "123456789012345680.0": ${spreadsheet}`,
    `6: gameId is "1,000": ${spreadsheet}`,
  ]);
  expect(reasonsOf(rows).at(-1)).toBe("100002 1234");
  const numbers = yield* parse(
    '[{"discordId":200000000000000001,"robloxId":1},\n{"discordId":9007199254740991,"robloxId":1},\n{"discordId":1.5,"robloxId":1},{"discordId":{"$numberDouble":"1.2E17"},"robloxId":1}]',
  );
  expect(reasonsOf(numbers)).toEqual(["destroyed", "9007199254740991 1", "destroyed", "destroyed"]);
  expect(problemsOf(numbers)[0]).toBe(
    '1: chatId is the number "200000000000000000", whose last digits are lost: write it as text, in quotes',
  );
});

test("a reader detects swapped IDs, but not in exports of this service", function* () {
  const swapped = yield* parse("discordId,robloxId\n1234567,200000000000000001\n1,200000000000000001\n");
  expect(reasonsOf(swapped)).toEqual(["swapped", "swapped"]);
  const chatId = "200000000000000001";
  const others = ["2535405290989773", "76561198000000001"];
  for (const gameId of others) {
    expect(reasonsOf(yield* parse(`discordId,gameId\n${gameId},${chatId}\n`))).toEqual(["swapped"]);
    const right = yield* parse(`discordId,gameId\n${chatId},${gameId}\n76561193000000001,${gameId}\n`);
    expect(reasonsOf(right)).toEqual([`${chatId} ${gameId}`, `76561193000000001 ${gameId}`]);
  }
  expect(reasonsOf(yield* parse("chatId,gameId\n1234567,200000000000000001\n"))).toEqual([
    "1234567 200000000000000001",
  ]);
});

test.each(timeForms)("a reader understands times in the form of $name", function* ({ examples }) {
  for (const example of examples) {
    const quotedRow = `discordId;robloxId;verifiedAt\n10001;1;${example}\n`;
    expect(yield* parse(quotedRow)).toEqual([link(2, "10001", "1", exampleTime)]);
  }
});

test("a reader understands numbers and dates of JSON and MongoDB, and values without a time", function* () {
  const times = [
    1_620_131_400,
    1_620_131_400_000,
    { $date: "2021-05-04T12:30:00Z" },
    { $date: 1_620_131_400_000 },
    { $date: { $numberLong: "1620131400000" } },
    { _seconds: 1_620_131_400, _nanoseconds: 0 },
    { seconds: 1_620_131_400, nanoseconds: 7 },
    { __datatype__: "timestamp", value: { _seconds: 1_620_131_400, _nanoseconds: 0 } },
    { $timestamp: { t: 1_620_131_400, i: 1 } },
    { $numberLong: "1620131400000" },
  ];
  for (const verifiedAt of times) {
    const row = JSON.stringify({ discordId: "10001", robloxId: "1", verifiedAt });
    expect(yield* parse(row)).toEqual([link(1, "10001", "1", exampleTime)]);
  }
  const zeros = [
    ...zeroTimes,
    "0001-01-01 00:00:00 +0000 UTC",
    "0001-01-01T00:00:00",
    "0001-01-01",
    "1970-01-01",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "1970-01-01 01:00:00+01:00",
    { $date: 0 },
    { $date: { $numberLong: "-62135596800000" } },
  ];
  for (const verifiedAt of [...missingTimes, ...zeros, "", "NULL", "\\N", "NaN", 0, null]) {
    const row = JSON.stringify({ discordId: "10001", robloxId: "1", verifiedAt });
    expect(yield* parse(row)).toEqual([link(1, "10001", "1", null)]);
  }
  const early = '{"discordId":"10001","robloxId":"1","verifiedAt":{"$date":{"$numberLong":"86400000"}}}';
  expect(yield* parse(early)).toEqual([link(1, "10001", "1", 86_400_000)]);
});

test("empty cells at the beginning and the end of a line do not matter", function* () {
  const named = yield* parse('name,discordId,robloxId,rank\n,10001,123456,"255"\n,"10002",,"7"\n');
  expect(reasonsOf(named)).toEqual(["10001 123456", "no_game_id"]);
  const rows = yield* parse("chatId,gameId,lastVerifiedAt\n10001,1\n10002,2,,,\n10003,3,2026-01-01,x\n");
  expect(rows.slice(0, 2)).toEqual([link(2, "10001", "1", null), link(3, "10002", "2", null)]);
  expect(problemsOf(rows)).toEqual(["4: the line has 4 cells, expected 3"]);
});

test("a reader reports the problem of a CSV line and continues", function* () {
  const lines = yield* parse(
    `chatId,gameId,lastVerifiedAt\n1,1,\n10001,,\n\n"a""b",1,\n=1+1,1,\n,,\n0010001,1,\n10001,01,\n-5,1,\n10002,2,\n`,
    "csv",
  );
  expect(problemsOf(lines)).toEqual([
    '2: chatId is "1", expected 5 to 32 digits',
    "3: gameId is missing, expected 1 to 32 digits",
    '5: chatId is "a\\"b", expected 5 to 32 digits',
    '6: chatId is the formula "=1+1", expected 5 to 32 digits',
    '8: chatId is "0010001", expected no zero at the beginning',
    '9: gameId is "01", expected no zero at the beginning',
    '10: chatId is "-5", expected 5 to 32 digits',
  ]);
  expect(lines.at(-1)).toEqual(link(11, "10002", "2", null));
});

test("a misplaced quote spoils only its own line", function* () {
  const problem = "a quote is misplaced, expected cells that are quoted whole or not at all";
  const broken = ['"10001,1,', '10001",1,', '"10001"x,1,', '10001,"1,2026-01-01'];
  const content = ["chatId,gameId,lastVerifiedAt", ...broken, '"10002","2",""', ""].join("\r\n");
  for (const size of [1, 7, 1_000]) {
    const lines = yield* parse(content, "csv", size);
    expect(problemsOf(lines)).toEqual([2, 3, 4, 5].map((line) => `${line}: ${problem}`));
    expect(lines.at(-1)).toEqual(link(6, "10002", "2", null));
  }
});

test("a CSV reader accepts line breaks in notes, and an unclosed quote spoils only its own line", function* () {
  const header = "discordId,robloxId,name,note";
  const content = `${header}\n10001,1,ada,"a note\nof two, ""quoted"" lines"\n10002,2,bob,\n`;
  expect(yield* parse(content)).toEqual([link(2, "10001", "1", null), link(4, "10002", "2", null)]);
  const open = `${header}\n10001,1,ada,"open\n${"10002,2,bob,x\n".repeat(2_000)}`;
  const rows = yield* parse(open, "csv", 1_000);
  expect(rows[0]).toMatchObject({ line: 2, reason: "row" });
  expect(rows.slice(1)).toEqual(
    Array.from({ length: 2_000 }, (_, index) => link(index + 3, "10002", "2", null)),
  );
});

test("two names with a quote spoil only their own lines, and not those between them", function* () {
  const others = "10002,2,bob\n".repeat(3);
  const rows = yield* parse(`discordId,robloxId,name\n10001,1,a"da\n${others}10003,3,c"y\n${others}`);
  expect(problemsOf(rows).map((problem) => problem.slice(0, 3))).toEqual(["2: ", "6: "]);
  expect(rows.filter((row) => "link" in row)).toHaveLength(6);
});

test("a quoted note links nobody by lines that look like rows, and is reported", function* () {
  const rows = yield* parse(`discordId,robloxId,name\n10001,1,"ada\n10002,2,bob\n"\n10003,3,cy\n`);
  expect(rows.flatMap((row) => ("link" in row ? [row.link.chatId] : []))).toEqual(["10003"]);
  expect(problemsOf(rows)).toEqual([expect.stringContaining("2: ")]);
  expect(problemsOf(rows)[0]).toContain("holds lines that look like rows");
});

test("a quoted note as long as Discord allows links nobody, whatever it holds", function* () {
  for (const note of ["\n".repeat(3_980), '""'.repeat(3_980)]) {
    const rows = yield* parse(`discordId,robloxId,note\n10001,1,"${note}\n10002,2,bob\n"\n10003,3,cy\n`);
    expect(rows.flatMap((row) => ("link" in row ? [row.link.chatId] : []))).toEqual(["10003"]);
  }
});

test("a reader reports the problem of an NDJSON line and continues", function* () {
  const lines = yield* parse(
    `nonsense\n[]\n{"chatId":true,"gameId":"1"}\n{"chatId":"10001","game":"1"}\n{"chatId":"10002","gameId":"2","note":1}`,
    "ndjson",
  );
  expect(problemsOf(lines)).toEqual([
    "1: the row is not a JSON object",
    "2: the row is not a JSON object",
    '3: chatId is "true", expected 5 to 32 digits',
    "4: the object has other names: expected a column of game IDs, such as gameId or roblox_id",
  ]);
  expect(lines.at(-1)).toEqual(link(5, "10002", "2", null));
});

test("a reader fails if the header lacks a column or names one twice, or if JSON is cut off or repeated", function* () {
  const names =
    "expected a column of chat IDs, such as chatId, discord_id or user_id, and a column of game IDs, such as gameId or roblox_id";
  expect(yield* unreadable("", "csv")).toContain("the file is empty, expected a header");
  expect(yield* unreadable("10001,1\n")).toContain(`Cannot read line 1: the header is "10001,1", ${names}`);
  expect(yield* unreadable("chatId,lastVerifiedAt\n")).toContain("expected a column of game IDs");
  expect(yield* unreadable("chatId,gameId,game-id\n")).toContain('two columns are named "gameId"');
  expect(yield* unreadable('"chatId,gameId\n10001,1\n', "csv")).toContain(names);
  expect(yield* unreadable('[{"chatId":"10001","gameId":"1"},')).toContain(
    "line 1: the file ends within its JSON",
  );
  expect(yield* unreadable('[{"chatId":"10001"')).toContain("the file ends within its JSON");
  for (const start of ['[{"chatId":"10001","gameId":"1"}]', '{"10001":"1"}']) {
    for (const size of [1, 1_000]) {
      const twice = parse(`${start}\n\n${start}\n`, "auto", size);
      expect(String(yield* Effect.flip(twice))).toContain("line 3: text follows the end of the JSON");
    }
  }
});

test("a reader refuses endless, deep and wide rows and binary files, and says why in one sentence", function* () {
  const endless = "no end within 65536 characters";
  expect(yield* unreadable(`chatId,gameId\n${"1".repeat(70_000)}`)).toContain(
    `line 2: the row has ${endless}`,
  );
  expect(yield* unreadable(`{}\n${" ".repeat(70_000)}`, "ndjson")).toContain(
    `line 2: the row has ${endless}`,
  );
  expect(yield* unreadable(`[{"a":"${"1".repeat(70_000)}`)).toContain(`line 1: the row has ${endless}`);
  expect(yield* unreadable("chatId,gameId\n10001,1\0\n")).toContain("line 2: the line has NUL characters");
  expect(yield* unreadable(`PK\u0003\u0004${"\0".repeat(20)}`)).toContain("the file is a ZIP archive");
  expect(yield* unreadable(`SQLite format 3\0${"\0".repeat(20)}`)).toContain(
    "the file is an SQLite database",
  );
  for (const image of ["\x89PNG\r\n\x1A\n", "\xFF\xD8\xFF\xE0", "GIF89a", "RIFF"]) {
    const bytes = Uint8Array.from({ length: 40 }, (_, index) => image.charCodeAt(index) || 0);
    expect(String(yield* Effect.flip(parseBytes(bytes)))).toContain("line 1: the file is an image");
  }
  expect(yield* unreadable("\x7FELF\x02\x01\x01 and more")).toContain("the file is not text");
  const gzip = new Uint8Array(40);
  gzip.set([0x1f, 0x8b, 8]);
  expect(String(yield* Effect.flip(parseBytes(gzip, "auto", 1)))).toContain("the file is compressed");
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  expect(reasonsOf(yield* parse(`[${deep}]`))).toEqual(["row"]);
  const ids = `{"discordId":${deep},"robloxId":1}\n{"discordId":"10002","robloxId":"2"}`;
  expect(reasonsOf(yield* parse(ids))).toEqual(["chat_id", "10002 2"]);
  expect(yield* unreadable(`chatId,gameId${",a".repeat(999)}\n`)).toContain("at most 1000 columns");
  const wide = yield* parse(`chatId,gameId\n10001${",1".repeat(2_000)}\n10002${',"2"'.repeat(2_000)}\n`);
  const cells = "the line has more than 1000 cells, expected 2";
  expect(problemsOf(wide)).toEqual([`2: ${cells}`, `3: ${cells}`]);
});

test.each([
  "200000000000000001 069a79f4-44e9-4726-a5be-fca90e38aaf5\n",
  "-200000000000000001 069a79f4-44e9-4726-a5be-fca90e38aaf5\n",
  '{"200000000000000001":"069a79f4-44e9-4726-a5be-fca90e38aaf5"}',
  '{\n  "069a79f4-44e9-4726-a5be-fca90e38aaf5": "200000000000000001"\n}',
  "link,discord,uuid\n1,200000000000000001,069a79f4-44e9-4726-a5be-fca90e38aaf5\n",
])("a reader names DiscordSRV as the origin of %j", function* (content) {
  expect(yield* unreadable(content)).toContain(
    "the file is one of DiscordSRV: it links Discord users to Minecraft UUIDs, expected the number of each player, as examples/minecraft.py writes them",
  );
});

test("error messages quote only the start of a value, and never an API key", function* () {
  const token = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;
  const lines = yield* parse(`chatId,gameId\n${token},1\n${"9".repeat(100)},1\n`, "csv");
  expect(problemsOf(lines)).toEqual([
    '2: chatId is "alk_Aa0Bb1Cc2Dd3_…", expected 5 to 32 digits',
    `3: chatId is "${"9".repeat(40)}…", expected 5 to 32 digits`,
  ]);
  expect(lines[0]).toMatchObject({ text: "alk_Aa0Bb1Cc2Dd3_…,1" });
});

test.each(["csv", "ndjson"] as const)("a link format writes %s that can be read back", function* (format) {
  const read = yield* parse(
    "chatId,gameId,lastVerifiedAt\n10001,1,2026-01-01T00:00:00.5Z\n10002,2,0002-01-01\n",
    "csv",
  );
  const links = read.flatMap((line) =>
    "link" in line ? [{ ...line.link, lastVerifiedAt: line.link.lastVerifiedAt ?? 0 }] : [],
  );
  expect(links).toHaveLength(2);
  const { header, write } = linkFormats[format];
  const again = yield* parse(header + links.map(write).join(""));
  expect(again.map((line) => ("link" in line ? line.link : line))).toEqual(links);
});

it("the ending of a file's name decides the format", () => {
  expect(
    ["a.csv", "A.CSV", "b.ndjson", "c.jsonl", "csv", "d.csv.gz"].map((name) =>
      Option.getOrNull(formatOfName(name)),
    ),
  ).toEqual(["csv", "csv", "ndjson", "ndjson", null, null]);
});
