/** The keys of records: parts of text and numbers, in an order that lists can use. */

/** Texts sort by their code units, numbers by value. */
export type KeyPart = string | number;

export type KeyParts = ReadonlyArray<KeyPart>;

/** The text of a key. Keys that begin with its parts begin with this text and a `/`. */
export const keyText = (collection: string, parts: KeyParts): string =>
  [collection, ...parts.map(partText)].join("/");

/** Sorts after all keys that begin with the parts of a key. */
export const afterPrefix = (prefix: string): string => `${prefix}0`;

const partText = (part: KeyPart): string => {
  if (typeof part === "number") return (zero + BigInt(part)).toString().padStart(17, "0");
  return part === "" ? "~" : part.replace(/[^0-9A-Za-z_-]/g, escaped);
};

/** Above the largest integer of a number, so that negative ones sort first. */
const zero = 10n ** 16n;

const escaped = (unit: string): string => `~${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
