import { Effect } from "effect";
import { expect, it } from "vitest";
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
