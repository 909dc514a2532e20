import { isStorable } from "@accountlink/core";

/**
 * Refuses text that not every store can hold: NUL, and surrogates without their other half. Memory could keep both,
 * but what works here must work on any store.
 */
export function assertStorable(...texts: ReadonlyArray<string>): void {
  for (const text of texts) {
    if (!isStorable(text)) {
      throw new TypeError(`Cannot store ${JSON.stringify(text)}, expected well-formed text without NUL`);
    }
  }
}
