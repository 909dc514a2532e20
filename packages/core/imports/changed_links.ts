import { Effect } from "effect";
import type { LinkChange } from "./import_batch.ts";
import type { ImportFile } from "./import_files.ts";

/** How many changes of an import a page shows, and how many its CSV file has. */
const [shownChanges, mostChanges] = [20, 10_000];

/** The changed links of an import: their number, and the first few. Up to 10,000 are in its file `changed`. */
export interface ChangedLinks {
  readonly count: number;
  readonly first: ReadonlyArray<LinkChange>;
}

const encoder = new TextEncoder();

/** Counts the links that an import would change, and writes the first ones to a file. */
export const collectChanges = (file: ImportFile) => {
  const first: Array<LinkChange> = [];
  let count = 0;
  const add = (text: string) => file.append(encoder.encode(text));
  return {
    begin: add("chatId,previousGameId,gameId\r\n"),
    add: (changes: ReadonlyArray<LinkChange>) => {
      const stored = changes.slice(0, Math.max(0, mostChanges - count));
      first.push(...changes.slice(0, shownChanges - first.length));
      count += changes.length;
      return add(
        stored
          .map(({ chatId, previousGameId, gameId }) => `${chatId},${previousGameId ?? ""},${gameId}\r\n`)
          .join(""),
      );
    },
    end: Effect.map(file.end, (): ChangedLinks => ({ count, first })),
  };
};
