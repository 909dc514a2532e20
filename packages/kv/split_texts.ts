/** The texts of records. A text that no value can hold is split into parts under keys of their own. */
import { encode } from "./keys.ts";
import type { Entry } from "./kv.ts";

/** A stored text, or one that a transaction stores. */
export type Text = Pick<Entry, "value">;

/** Records by their entries. An engine that returns the same entry again, as the one in memory does, spares a parse. */
const records = new WeakMap<Text, unknown>();

export const parsed = (entry: Text, json: string): unknown => {
  const known = records.get(entry);
  if (known !== undefined) return known;
  const record: unknown = JSON.parse(json);
  records.set(entry, record);
  return record;
};

/** Fewer characters than a value may have bytes, since a character has up to three bytes. */
export const partLength = 20_000;

export const splitMark = "#";

export const isSplit = (text: string | null | undefined): text is string =>
  text?.startsWith(splitMark) === true;

export const partKeys = (name: string): ReadonlyArray<string> => {
  const [id = "", parts] = name.split(" ");
  return Array.from({ length: Number(parts) }, (_, index) => encode(["part", id, index]));
};
