import { isVisibleName } from "@accountlink/core/name_text";
import { isStorable } from "@accountlink/core/storable_text";
import { formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import { type Arbitrary, array, constantFrom, integer, oneof, string } from "fast-check";
import { hostileTexts } from "../hostile_texts.ts";

/** Any characters. The unit "binary" of `string` would need a table of all of them, which takes a second to make. */
const anyCharacters = array(integer({ min: 1, max: 0x10_ff_ff })).map((points) =>
  String.fromCodePoint(...points),
);

/** Text that every store must keep unchanged. Many of the values are texts that a faulty store would change. */
export const text: Arbitrary<string> = oneof(
  constantFrom(...hostileTexts),
  string({ unit: "grapheme" }),
  anyCharacters.filter(isStorable),
);

/**
 * A valid name of 1 to 100 characters.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { isVisibleName } from "@accountlink/core/name_text";
 * import { isStorable } from "@accountlink/core/storable_text";
 * import { formatTimestamp, parseTimestamp } from "@accountlink/core/timestamp";
 * import { Option } from "effect";
 *
 * fc.assert(fc.property(Arbitrary.text, isStorable));
 * fc.assert(fc.property(Arbitrary.name, isVisibleName));
 *
 * const timeOf = (text: string) => Option.getOrNull(parseTimestamp(text));
 * fc.assert(fc.property(Arbitrary.millis, (time) => timeOf(formatTimestamp(time)) === time));
 * fc.assert(fc.property(Arbitrary.timestamp, (text) => timeOf(text) !== null));
 * ```
 */
export const name: Arbitrary<string> = oneof(
  string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 }),
  text.filter((given) => given.length <= 100),
).filter(isVisibleName);

/** A time of the years 2000 to 2099, in milliseconds since the Unix epoch. */
export const millis: Arbitrary<Millis> = integer({ min: Date.UTC(2000, 0), max: Date.UTC(2100, 0) - 1 });

/** A time of the years 2000 to 2099, as ISO 8601. */
export const timestamp: Arbitrary<string> = millis.map(formatTimestamp);
