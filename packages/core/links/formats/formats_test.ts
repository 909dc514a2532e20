import { describe, expect, it } from "@effect/vitest";
import { Effect, Option, Stream } from "effect";
import type { LinkLine } from "./link_format.ts";
import { formatOfName, type LinkFormatName, linkFormats } from "./link_formats.ts";

const encoder = new TextEncoder();

/** The lines of a file that arrives in pieces of that many bytes. */
const parse = (content: string, format: LinkFormatName, pieceSize = 1_000_000) => {
  const bytes = encoder.encode(content);
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceSize) }, (_, index) =>
    bytes.subarray(index * pieceSize, (index + 1) * pieceSize),
  );
  return Stream.runCollect(linkFormats[format].read(Stream.fromIterable(pieces)));
};

const link = (line: number, chatId: string, gameId: string, lastVerifiedAt: number | null) => ({
  line,
  link: { chatId, gameId, lastVerifiedAt },
});

const problemsOf = (lines: ReadonlyArray<LinkLine>) =>
  lines.flatMap((read) => ("problem" in read ? [`${read.line}: ${read.problem}`] : []));

describe("LinkFormat.read", () => {
  const csv =
    'chatId,gameId,lastVerifiedAt\r\n10001,1,2026-01-01T00:00:00.000Z\r\n\r\n10002,2,\r\n"10003","3",1970-01-01';
  const ndjson = [
    '{"chatId":"10001","gameId":"1","lastVerifiedAt":"2026-01-01T00:00:00.000Z"}',
    "",
    '{"gameId":"2","chatId":"10002","lastVerifiedAt":null}',
    '{"chatId":"10003","gameId":"3","lastVerifiedAt":"1970-01-01T01:00:00+01:00"}',
  ].join("\r\n");

  it.effect.each([
    { format: "csv" as const, content: csv, lines: [2, 4, 5] },
    { format: "ndjson" as const, content: ndjson, lines: [1, 3, 4] },
  ])("reads $format in pieces of any size", ({ format, content, lines: [a = 0, b = 0, c = 0] }) =>
    Effect.gen(function* () {
      const expected = [
        link(a, "10001", "1", 1_767_225_600_000),
        link(b, "10002", "2", null),
        link(c, "10003", "3", 0),
      ];
      for (const size of [1, 2, 3, 7, 64, 1_000]) {
        expect(yield* parse(content, format, size)).toEqual(expected);
      }
    }),
  );

  it.effect("finds columns by their names, and does without the one for the time", () =>
    Effect.gen(function* () {
      expect(yield* parse("gameId,chatId\n1,10001\n", "csv")).toEqual([link(2, "10001", "1", null)]);
      expect(yield* parse("lastVerifiedAt,gameId,chatId\n1970-01-01,1,10001", "csv")).toEqual([
        link(2, "10001", "1", 0),
      ]);
    }),
  );

  it.effect("says what is wrong with a line of CSV and goes on", () =>
    Effect.gen(function* () {
      const lines = yield* parse(
        `chatId,gameId,lastVerifiedAt\n1,1,\n10001,,\n10001,1\n10001,1,tomorrow\n"a""b",1,\n10001,1,2026-13-01\n10002,2,\n`,
        "csv",
      );
      const time = "expected an ISO 8601 date, or a date and time with its offset";
      expect(problemsOf(lines)).toEqual([
        '2: chatId is "1", expected 5 to 32 digits',
        "3: gameId is missing, expected 1 to 32 digits",
        "4: the line has 2 cells, expected 3",
        `5: lastVerifiedAt is "tomorrow", ${time}`,
        '6: chatId is "a\\"b", expected 5 to 32 digits',
        `7: lastVerifiedAt is "2026-13-01", ${time}`,
      ]);
      expect(lines.at(-1)).toEqual(link(8, "10002", "2", null));
    }),
  );

  it.effect("a misplaced quote spoils only its own line", () =>
    Effect.gen(function* () {
      const problem = "a quote is misplaced, expected cells that are quoted whole or not at all";
      const broken = ['"10001,1,', '10001",1,', '"10001"x,1,', '10001,"1,2026-01-01'];
      const content = ["chatId,gameId,lastVerifiedAt", ...broken, '"10002","2",""', ""].join("\r\n");
      for (const size of [1, 7, 1_000]) {
        const lines = yield* parse(content, "csv", size);
        expect(problemsOf(lines)).toEqual([2, 3, 4, 5].map((line) => `${line}: ${problem}`));
        expect(lines.at(-1)).toEqual(link(6, "10002", "2", null));
      }
    }),
  );

  it.effect("says what is wrong with a line of NDJSON and goes on", () =>
    Effect.gen(function* () {
      const lines = yield* parse(
        `nonsense\n[]\n{"chatId":10001,"gameId":"1"}\n{"chatId":"10001","gameId":"1","note":1}\n{"chatId":"10002","gameId":"2"}`,
        "ndjson",
      );
      expect(problemsOf(lines)).toEqual([
        "1: the line is not a JSON object",
        "2: the line is not a JSON object",
        '3: chatId is the JSON "10001", expected a string of 5 to 32 digits',
        '4: the field "note" is not known, expected chatId, gameId, lastVerifiedAt',
      ]);
      expect(lines.at(-1)).toEqual(link(5, "10002", "2", null));
    }),
  );

  it.effect("ends where the file cannot be read on", () =>
    Effect.gen(function* () {
      const reasonOf = (content: string, format: LinkFormatName) =>
        Effect.map(Effect.flip(parse(content, format)), String);
      const header = 'expected "chatId,gameId" or "chatId,gameId,lastVerifiedAt"';
      expect(yield* reasonOf("", "csv")).toContain(`Cannot read line 1: the header is "", ${header}`);
      expect(yield* reasonOf("chatId,gameId,gameId\n", "csv")).toContain(header);
      expect(yield* reasonOf("chatId,lastVerifiedAt\n", "csv")).toContain(header);
      expect(yield* reasonOf('"chatId,gameId\n10001,1\n', "csv")).toContain(header);
      expect(yield* reasonOf(`chatId,gameId\n${"1".repeat(70_000)}`, "csv")).toContain(
        "Cannot read line 2: expected 65536",
      );
      expect(yield* reasonOf(`{}\n${" ".repeat(70_000)}`, "ndjson")).toContain(
        "Cannot read line 2: expected 65536",
      );
    }),
  );

  it.effect("repeats no more of a value than identifies it, and no key", () =>
    Effect.gen(function* () {
      const token = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;
      const lines = yield* parse(`chatId,gameId\n${token},1\n${"9".repeat(100)},1\n`, "csv");
      expect(problemsOf(lines)).toEqual([
        '2: chatId is "alk_Aa0Bb1Cc2Dd3_…", expected 5 to 32 digits',
        `3: chatId is "${"9".repeat(40)}…", expected 5 to 32 digits`,
      ]);
    }),
  );
});

describe("LinkFormat.write", () => {
  it.effect.each([{ format: "csv" as const }, { format: "ndjson" as const }])(
    "writes $format that is read back",
    ({ format }) =>
      Effect.gen(function* () {
        const read = yield* parse(
          "chatId,gameId,lastVerifiedAt\n10001,1,2026-01-01T00:00:00.5Z\n10002,2,0001-01-01\n",
          "csv",
        );
        const links = read.flatMap((line) =>
          "link" in line ? [{ ...line.link, lastVerifiedAt: line.link.lastVerifiedAt ?? 0 }] : [],
        );
        expect(links).toHaveLength(2);
        const { header, write } = linkFormats[format];
        const again = yield* parse(header + links.map(write).join(""), format);
        expect(again.map((line) => ("link" in line ? line.link : line))).toEqual(links);
      }),
  );
});

describe("formatOfName", () => {
  it("goes by the ending", () => {
    expect(
      ["a.csv", "A.CSV", "b.ndjson", "c.jsonl", "csv", "d.csv.gz"].map((name) =>
        Option.getOrNull(formatOfName(name)),
      ),
    ).toEqual(["csv", "csv", "ndjson", "ndjson", null, null]);
  });
});
