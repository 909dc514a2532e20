/** Text that every database holds and gives back as it was. */
import { isStorable } from "@accountlink/core";
import { Effect } from "effect";

/** Refuses other text, as a defect: SQLite would store it, and look for it, as another text; Postgres takes no NUL. */
export const assertStorable = (texts: Iterable<string>): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const text of texts) {
      if (!isStorable(text)) {
        throw new TypeError(`Cannot store ${JSON.stringify(text)}, expected well-formed text without NUL`);
      }
    }
  });
