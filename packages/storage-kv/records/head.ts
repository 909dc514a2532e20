/**
 * The one record that every commit changes. A transaction commits if it is still the one that it began with, so writes
 * are serialized and consistent reads need no lock.
 */
import { Option, Schema } from "effect";

export const headKey = "head";

/** The form of the records. A later release that changes it refuses an older reader by this number. */
export const format = 1;

export type Head = typeof Head.Type;
const Head = Schema.Struct({
  format: Schema.Int,
  /** Makes the head of each commit another one. */
  commits: Schema.Int,
  /** The number of the last audit entry or event. */
  sequence: Schema.Int,
});

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Head));

/** The head of a store, of an empty one with null. A defect if it is not a head. */
export const readHead = (text: string | null): Head => {
  if (text === null) return { format, commits: 0, sequence: 0 };
  const head = decode(text);
  if (Option.isSome(head)) return head.value;
  throw new Error(`Cannot read the store: its head is ${JSON.stringify(text)}, expected that of this layer`);
};

export const headText = (head: Head): string => JSON.stringify(head);
