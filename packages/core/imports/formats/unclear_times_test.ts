/** Times that can be read in two ways, or not at all: the other rows of a file decide, or its reader is asked. */
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { link, parse, problemsOf, reasonsOf } from "./test_parsing.ts";

test("a reader asks about times that it cannot read, and leaves out rows more than a day ahead", function* () {
  const wrong = ["tomorrow", "2026-13-01", "31 Feb 2026 12:00 GMT", "31/02/2021", "9/28/2024 13:00 PM"];
  const future = ["2027-01-02T00:00:01Z", "4102444800"];
  const lines = ["2027-01-02", ...wrong, ...future].map((time_) => `10001,1,${time_}\n`);
  const content = `discordId,robloxId,verified_at\n${lines.join("")}`;
  const unclear = { column: "verified_at", time: "tomorrow", isDate: false, rows: wrong.length };
  for (const size of [1, 1_000])
    expect(yield* Effect.flip(parse(content, "auto", size))).toMatchObject({
      line: 3,
      reason: 'column "verified_at" says "tomorrow", expected an ISO 8601 date, or a date and time',
      unclearColumns: ["verified_at"],
      unclearTimes: [unclear],
    });
  const rows = yield* parse(content, "auto", 100, { unclearTimes: "unknown" });
  expect(rows.slice(1, -2)).toEqual(wrong.map((_, index) => link(index + 3, "10001", "1", null)));
  expect(problemsOf(rows)).toEqual(
    future.map(
      (time_, index) =>
        `${index + 3 + wrong.length}: the time is "${time_}", expected one that is at most a day ahead`,
    ),
  );
});

const timesOf = (rows: ReadonlyArray<object>) =>
  rows.map((row) => ("link" in row ? (row.link as { lastVerifiedAt: number | null }).lastVerifiedAt : row));

const dated = (dates: ReadonlyArray<string>) =>
  `discordId;robloxId;linked_at\n${dates.map((date, index) => `${10_001 + index};1;${date}\n`).join("")}`;

test.each(["04/05/2021", "4.5.2021 12:30", "04-05-21", "28-09-24", "5/4/2021, 2:30:00 PM"])(
  "a reader asks about the date %s, whose day and month nobody can tell apart",
  function* (date) {
    const content = dated(["2021-05-04", date, date]);
    expect(yield* Effect.flip(parse(content))).toMatchObject({
      line: 3,
      unclearColumns: ["linked_at"],
      unclearTimes: [{ column: "linked_at", time: date, isDate: true, rows: 2 }],
    });
    for (const unknown of [{ ignoreColumns: ["linked_at"] }, { unclearTimes: "unknown" }] as const)
      for (const isRepeatable of [true, false]) {
        const rows = yield* parse(content, "auto", 100, { ...unknown, isRepeatable });
        expect(timesOf(rows).slice(1)).toEqual([null, null]);
      }
  },
);

const clearDates = [
  { date: "28.09.2024", read: "2024-09-28" },
  { date: "9/28/2024, 2:30:05\u202fPM", read: "2024-09-28T14:30:05Z" },
  { date: "28/09/2024 12:30 a.m.", read: "2024-09-28T00:30:00Z" },
  { date: "28-09-2024 12:30:00+02", read: "2024-09-28T10:30:00Z" },
  { date: "04.04.2021 08:05", read: "2021-04-04T08:05:00Z" },
  { date: "1.1.1970", read: null },
];

test.each(clearDates)(
  "a reader reads the date $date, which has one reading only",
  function* ({ date, read }) {
    expect(timesOf(yield* parse(dated([date])))).toEqual([read && Date.parse(read)]);
  },
);

test("the dates of a column with one reading tell the order of the others, before and after them", function* () {
  const [may4, april5, september28] = ["2021-05-04", "2021-04-05", "2024-09-28"].map((date) =>
    Date.parse(date),
  );
  const repeatable = { isRepeatable: true } as const;
  const orders = [
    ["28.09.2024", may4],
    ["9/28/2024", april5],
  ] as const;
  for (const [deciding, read] of orders) {
    for (const size of [1, 100_000]) {
      const rows = yield* parse(dated(["", "04/05/2021", deciding, "04/05/21"]), "auto", size, repeatable);
      expect(timesOf(rows)).toEqual([null, read, september28, read]);
      const later = yield* parse(dated([deciding, "04/05/2021"]), "auto", size, repeatable);
      expect(timesOf(later)).toEqual([september28, read]);
    }
  }
  const both = dated(["04/05/2021", "28/09/2024", "09/28/2024", "12/31/2024"]);
  const asked = { line: 2, unclearTimes: [{ time: "04/05/2021", isDate: true, rows: 1 }] };
  expect(yield* Effect.flip(parse(both, "auto", 9, repeatable))).toMatchObject(asked);
  const chosen = yield* parse(both, "auto", 9, { ...repeatable, unclearTimes: "month-first" });
  expect(timesOf(chosen)[0]).toBe(april5);
  const unknown = yield* parse(both, "auto", 9, { ...repeatable, unclearTimes: "unknown" });
  expect(timesOf(unknown)[0]).toBe(null);
  // A pipe cannot be read again.
  expect(yield* Effect.flip(parse(dated(["28.09.2024", "04/05/2021"])))).toMatchObject({ line: 3 });
});

test("a reader asks about what the other dates leave unclear, together with the odd words", function* () {
  const content =
    "discordId,robloxId,status,linked_at\n10001,1,yes,04/05/2021\n10002,2,yes,soon\n10003,3,maybe,28/09/2024\n";
  const reading = { isRepeatable: true, unclearTimes: "unknown" } as const;
  expect(yield* Effect.flip(parse(content, "auto", 7, { isRepeatable: true }))).toMatchObject({
    line: 3,
    said: { is: "time", column: "linked_at", value: "soon" },
    unclearColumns: ["status", "linked_at"],
    oddWords: [{ word: "maybe" }],
    unclearTimes: [{ time: "soon", isDate: false, rows: 1 }],
  });
  expect(yield* Effect.flip(parse(content, "auto", 7, reading))).toMatchObject({ line: 4 });
  const rows = yield* parse(content, "auto", 7, { ...reading, verifiedWords: { maybe: "yes" } });
  expect(timesOf(rows)).toEqual([Date.parse("2021-05-04"), null, Date.parse("2024-09-28")]);
});

test("a link that was deleted on an unclear date is over", function* () {
  expect(reasonsOf(yield* parse("discordId,robloxId,deleted_at\n10001,1,04/05/2021\n"))).toEqual([
    "not_verified",
  ]);
});
