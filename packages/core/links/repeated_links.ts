/**
 * Chat users whom a file names more than once, found in little memory: a first reading of the file marks hashes of chat
 * IDs, a second one compares the few rows whose hash was marked twice.
 */
import { Effect, Stream } from "effect";
import type { ChatId } from "../ids.ts";
import type { FileLink, LeftOutLine, LinkLine } from "./formats/link_format.ts";
import { ownCopy } from "./own_copy.ts";

/** Which link of a chat user counts. */
export type ConflictChoice = "keep" | "replace" | "newest";

/** A link and where it stands. */
export interface CountingLine extends FileLink {
  /** Rows of a file count from 1. */
  readonly row: number;
  /** JSON may have several rows on one. */
  readonly line: number;
}

/** How many chat users are compared. Beyond it, the store decides by the order of the rows. */
const maxSuspects = 500_000;

const markBits = 27;

/** Marks chat IDs, and finds those that were marked before, and few others: a Bloom filter of two bits for each. */
export class Suspects {
  readonly #marked = new Uint8Array(2 ** (markBits - 3));
  readonly #hashes = new Set<number>();

  add(chatId: ChatId): void {
    const hash = hashOf(chatId);
    const isFirstNew = this.#mark(hash >>> (32 - markBits));
    const isSecondNew = this.#mark(mixed(hash ^ 0x9e3779b9) >>> (32 - markBits));
    if (!isFirstNew && !isSecondNew && this.#hashes.size < maxSuspects) this.#hashes.add(hash);
  }

  /** Whether the bit was not set. */
  #mark(index: number): boolean {
    const byte = this.#marked[index >>> 3] ?? 0;
    const bit = 1 << (index & 7);
    if ((byte & bit) !== 0) return false;
    this.#marked[index >>> 3] = byte | bit;
    return true;
  }

  /** Hashes of all chat IDs that stand twice. */
  get found(): ReadonlySet<number> {
    return this.#hashes;
  }
}

/** FNV-1a, mixed, so that IDs in a row do not share bits. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixed(hash);
};

const mixed = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b);
  return (twice ^ (twice >>> 16)) >>> 0;
};

/**
 * The link that counts of each chat user whom the file names more than once.
 *
 * @param suspects hashes of their chat IDs
 */
export const linksThatCount = Effect.fnUntraced(function* <E, R>(
  lines: Stream.Stream<LinkLine, E, R>,
  suspects: ReadonlySet<number>,
  onConflict: ConflictChoice,
  onProgress: (rows: number) => Effect.Effect<void>,
) {
  const counting = new Map<ChatId, CountingLine>();
  if (suspects.size === 0) return counting;
  const repeated = new Set<ChatId>();
  let count = 0;
  yield* Stream.runForEachArray(lines, (rows) => {
    for (const row of rows) {
      count++;
      if (!("link" in row) || !suspects.has(hashOf(row.link.chatId))) continue;
      const chatId = ownCopy(row.link.chatId);
      const gameId = ownCopy(row.link.gameId);
      const before = counting.get(chatId);
      const next = { ...row.link, row: count, line: row.line, chatId, gameId };
      if (before !== undefined) {
        repeated.add(chatId);
        counting.set(chatId, choose(before, next, onConflict));
      } else if (counting.size < maxSuspects) counting.set(chatId, next);
    }
    return onProgress(count);
  });
  for (const chatId of counting.keys()) if (!repeated.has(chatId)) counting.delete(chatId);
  return counting;
});

/** Which of two links of a chat user counts, the first of which stands before the second. */
export const choose = (
  first: CountingLine,
  second: CountingLine,
  onConflict: ConflictChoice,
): CountingLine => {
  if (onConflict !== "newest") return onConflict === "keep" ? first : second;
  return (second.lastVerifiedAt ?? -Infinity) > (first.lastVerifiedAt ?? -Infinity) ? second : first;
};

/** Why a link does not count beside another one of its chat user. */
export const repeatProblem = (link: CountingLine, counting: CountingLine): LeftOutLine => {
  const { line, chatId, gameId } = link;
  const isSame = gameId === counting.gameId;
  const problem = isSame
    ? `chat user ${chatId} has the same link on line ${counting.line}`
    : `chat user ${chatId} is linked to ${gameId} here and to ${counting.gameId} on line ${counting.line}, which counts`;
  return { line, reason: isSame ? "repeated" : "conflict", problem, text: `${chatId},${gameId}` };
};
