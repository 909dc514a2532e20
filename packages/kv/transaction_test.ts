import { describe, expect, testLive as test } from "@accountlink/test-servers/effect";
import { Deferred, Effect } from "effect";
import { Database } from "./database.ts";
import type { Kv } from "./kv.ts";
import { memoryKv } from "./memory_kv.ts";
import { table } from "./table.ts";
import type { Transaction } from "./transaction.ts";

interface Note {
  readonly id: string;
  readonly text: string;
}

const notes = table<Note>()("note", ({ id }) => [id], {});

/** Keeps values in UTF-8, as Redis and Deno KV do. */
const utf8Kv = (): Kv => {
  const kv = memoryKv();
  const inUtf8 = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text));
  return {
    ...kv,
    commit: (checks, changes) =>
      kv.commit(
        checks,
        changes.map(({ key, value }) => ({ key, value: value === null ? null : inUtf8(value) })),
      ),
  };
};

test.each(["", "x"])(
  "a record of several parts keeps characters of two code units (after %j)",
  function* (start) {
    const db = new Database(utf8Kv());
    const note = { id: "1", text: `${start}${"👩".repeat(30_000)}` };
    yield* db.write("note", (tx) => tx.put(notes, note));
    expect(yield* db.read((tx) => tx.get(notes, "1"))).toEqual(note);
  },
);

describe("a record of several parts that is replaced while it is read", () => {
  const [before, after] = ["a", "b"].map((letter) => ({ id: "1", text: letter.repeat(60_000) })) as [
    Note,
    Note,
  ];

  /** An engine that stores `after` once, when the parts of `before` are about to be read. */
  const replacingKv = Effect.fnUntraced(function* () {
    const kv = memoryKv();
    const db = new Database(kv);
    const store = (note: Note) => db.write("note", (tx) => tx.put(notes, note));
    yield* store(before);
    let reads = 0;
    const get: Kv["get"] = (keys) => Effect.andThen(reads++ === 1 ? store(after) : Effect.void, kv.get(keys));
    return new Database({ ...kv, get });
  });

  test("is read again", function* () {
    const db = yield* replacingKv();
    expect(yield* db.read((tx) => tx.get(notes, "1"))).toEqual(after);
  });

  test("is changed as it was replaced", function* () {
    const db = yield* replacingKv();
    const changed = db.write("other", function* (tx) {
      const note = yield* tx.get(notes, "1");
      yield* tx.put(notes, { id: "1", text: `${note?.text}!` });
      return note;
    });
    expect(yield* changed).toEqual(after);
  });
});

test("a record is created without a read, unless its key is taken", function* () {
  const kv = memoryKv();
  const asked: Array<string> = [];
  const get: Kv["get"] = (keys) => Effect.tap(kv.get(keys), () => Effect.sync(() => asked.push("get")));
  const db = new Database({ ...kv, get });
  const create = (text: string) => db.write("note", (tx) => tx.create(notes, { id: "1", text }));
  const found = db.read((tx) => tx.get(notes, "1"));
  expect(yield* create("first")).toBe(true);
  expect(asked).toEqual([]);
  expect(yield* create("second")).toBe(false);
  expect(yield* found).toEqual({ id: "1", text: "first" });
});

test("reads at the same time that see a group before and after a change run again", function* () {
  const kv = memoryKv();
  const grouped = table<Note>()("grouped", ({ id }) => [id], {
    byText: { keys: ({ text }) => [[text]], group: 1 },
  });
  const store = new Database(kv).write("note", (tx) => tx.put(grouped, { id: "1", text: "a" }));
  const [isChanged, isRead] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()];
  let reads = 0;
  // Of two reads of the group, the one that began first sees it before the change, and is answered last.
  const get: Kv["get"] = (keys) =>
    Effect.gen(function* () {
      const turn = reads++;
      if (turn === 1) yield* Deferred.await(isChanged);
      const found = yield* kv.get(keys);
      if (turn === 0) {
        yield* store;
        yield* Deferred.succeed(isChanged, undefined);
        yield* Deferred.await(isRead);
      } else if (turn === 1) yield* Deferred.succeed(isRead, undefined);
      return found;
    });
  const list = (tx: Transaction) => tx.list(grouped.byText, ["a"]);
  const both = new Database({ ...kv, get }).write("both", function* (tx) {
    const found = yield* Effect.all([list(tx), list(tx)], { concurrency: "unbounded" });
    tx.insert(grouped, { id: "2", text: "b" });
    return found.map(({ length }) => length);
  });
  expect(yield* both).toEqual([1, 1]);
  expect(reads).toBeGreaterThan(2);
});

test("nothing in a store names a record that was deleted", function* () {
  const kv = memoryKv();
  const db = new Database(kv);
  const named = table<Note>()(
    "named",
    ({ id }) => [id],
    { byText: { keys: ({ text }) => [[text]], group: 1 } },
    1,
  );
  const [id, text] = ["300000000000000001", "a text of its own"];
  yield* db.write(id, (tx) => tx.put(named, { id, text }));
  yield* db.write(id, (tx) => tx.remove(named, id));
  const left = yield* kv.list({ start: "", end: "\u{10ffff}" }, { limit: 100, reverse: false });
  expect(left).toHaveLength(2);
  expect(JSON.stringify(left)).not.toMatch(/3000|own/);
});

test("writes of one name wait for each other, and writes of other names run", function* () {
  const db = new Database(memoryKv());
  const ended: Array<string> = [];
  const othersEnded = Deferred.makeUnsafe<void>();
  const write = (name: string, what: string, before: Effect.Effect<void> = Effect.void) =>
    db.write(name, function* () {
      yield* before;
      ended.push(what);
    });
  const names = Array.from({ length: 200 }, (_, index) => `other ${index}`);
  const others = Effect.all(
    names.map((name) => write(name, name)),
    { concurrency: "unbounded" },
  );
  yield* Effect.all(
    [
      write("one", "first of one", Deferred.await(othersEnded)),
      write("one", "second of one"),
      Effect.andThen(others, Deferred.succeed(othersEnded, undefined)),
    ],
    { concurrency: "unbounded" },
  );
  expect(ended).toHaveLength(202);
  expect(ended.slice(-2)).toEqual(["first of one", "second of one"]);
});
