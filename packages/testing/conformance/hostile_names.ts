import { hostileTexts } from "../mod.ts";

/** Hostile texts that are short enough for a part of a key of an engine. */
export const hostileNames: ReadonlyArray<string> = hostileTexts.map((text) => text.slice(0, 1_000));
