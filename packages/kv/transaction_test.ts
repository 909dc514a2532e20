import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import type { Kv } from "./kv.ts";
import { memoryKv } from "./memory_kv.ts";
import { table } from "./table.ts";
import { Database } from "./transaction.ts";

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

it.each(["", "x"])(
  "a record of several parts keeps characters of two code units (after %j)",
  async (start) => {
    const db = new Database(utf8Kv());
    const note = { id: "1", text: `${start}${"👩".repeat(30_000)}` };
    const program = Effect.andThen(
      db.write("note", function* (tx) {
        yield* tx.put(notes, note);
      }),
      db.read(function* (tx) {
        return yield* tx.get(notes, "1");
      }),
    );
    expect(await Effect.runPromise(program)).toEqual(note);
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
    const store = (note: Note) =>
      db.write("note", function* (tx) {
        yield* tx.put(notes, note);
      });
    yield* store(before);
    let reads = 0;
    const get: Kv["get"] = (keys) => Effect.andThen(reads++ === 1 ? store(after) : Effect.void, kv.get(keys));
    return new Database({ ...kv, get });
  });

  it("is read again", () =>
    Effect.gen(function* () {
      const db = yield* replacingKv();
      const found = db.read(function* (tx) {
        return yield* tx.get(notes, "1");
      });
      expect(yield* found).toEqual(after);
    }).pipe(Effect.runPromise));

  it("is changed as it was replaced", () =>
    Effect.gen(function* () {
      const db = yield* replacingKv();
      const changed = db.write("other", function* (tx) {
        const note = yield* tx.get(notes, "1");
        yield* tx.put(notes, { id: "1", text: `${note?.text}!` });
        return note;
      });
      expect(yield* changed).toEqual(after);
    }).pipe(Effect.runPromise));
});
