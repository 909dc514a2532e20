import { DatabaseSync } from "node:sqlite";
import { expect, it } from "@accountlink/test-servers/effect";
import { statementsOf } from "./connection.ts";

const openStatements = (capacity?: number) => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE things (text TEXT, number INTEGER, any)");
  return { db, ...statementsOf(db, capacity) };
};

it.each([
  ["a string", "x", "x", "text"],
  ["a string with a zero byte", "a\0b", "a\0b", "text"],
  ["a whole number", 5, 5, "integer"],
  ["a time in milliseconds", 1_767_225_600_000, 1_767_225_600_000, "integer"],
  ["a fraction", 0.5, 0.5, "real"],
  ["a number beyond the safe integers", 1e300, 1e300, "real"],
  ["a bigint", 7n, 7, "integer"],
  ["true", true, 1, "integer"],
  ["false", false, 0, "integer"],
  ["bytes", new Uint8Array([0, 255]), new Uint8Array([0, 255]), "blob"],
  ["a buffer", Buffer.from([1, 2]), new Uint8Array([1, 2]), "blob"],
  ["null", null, null, "null"],
])("a statement binds %s", (_, value, stored, type) => {
  const { values } = openStatements();
  expect(values.all("SELECT ?, typeof(?)", [value, value])).toEqual([[stored, type]]);
});

it("an integer is stored in a text column without a decimal point", () => {
  const { rows } = openStatements();
  rows.run("INSERT INTO things (text) VALUES (?)", [5]);
  expect(rows.all("SELECT text FROM things", [])).toEqual([{ text: "5" }]);
});

it.each([
  ["undefined", undefined],
  ["NaN", Number.NaN],
  ["Date", new Date()],
  ["Array", ["hidden"]],
  ["Object", { any: "hidden" }],
  ["an object", Object.create(null)],
  ["symbol", Symbol("hidden")],
  ["function", () => "hidden"],
])("a statement refuses %s, naming position and type only", (type, value) => {
  const { rows } = openStatements();
  expect(() => rows.all("SELECT ?, ?", ["hidden", value])).toThrow(
    new TypeError(
      `Cannot bind parameter 2: it is ${type}, expected null, string, number, bigint, boolean or Uint8Array`,
    ),
  );
});

it("statements return the right rows when the cache is over its capacity", () => {
  const { values } = openStatements(3);
  for (const round of [1, 2]) {
    for (let n = 0; n < 20; n++) {
      expect(values.all(`SELECT ${n}, ?`, [round])).toEqual([[n, round]]);
      expect(values.all("SELECT 'often', ?", [n])).toEqual([["often", n]]);
    }
  }
});

it("a statement is prepared once, and again after the cache was full", () => {
  const { db, rows } = openStatements(2);
  const prepared: Array<string> = [];
  const prepare = db.prepare.bind(db);
  db.prepare = (sql) => {
    prepared.push(sql);
    return prepare(sql);
  };
  for (const n of [1, 1, 2, 1, 3, 1]) rows.all(`SELECT ${n}`, []);
  expect(prepared).toEqual(["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 1"]);
});

it("a prepared statement returns a column that was added later", () => {
  const { rows } = openStatements();
  rows.run("INSERT INTO things (text) VALUES ('a')", []);
  rows.all("SELECT * FROM things", []);
  rows.run("ALTER TABLE things ADD COLUMN later INTEGER DEFAULT 1", []);
  expect(rows.all("SELECT * FROM things", [])).toEqual([{ text: "a", number: null, any: null, later: 1 }]);
});
