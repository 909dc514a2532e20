/** Words that prove a game account: its owner puts them into the public description. */
import { wordList } from "./word_list.ts";

/** How many words prove an account. */
const count = 6;

/**
 * Returns words for an account.
 *
 * @param bytes random bytes, at least two for each word
 * @internal
 */
export const wordsOf = (bytes: Uint8Array): string => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chosen = Array.from({ length: count }, (_, index) => {
    return wordList[view.getUint16(index * 2) % wordList.length];
  });
  return chosen.join(" ");
};

/**
 * Whether a description has the words one after the other. Letter case, punctuation and line breaks between them do not
 * matter. @internal
 */
export const hasWords = (description: string, words: string): boolean =>
  ` ${plain(description)} `.includes(` ${plain(words)} `);

const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
