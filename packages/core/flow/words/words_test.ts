import { assert, it } from "@accountlink/test-servers/effect";
import { wordList } from "./word_list.ts";
import { hasWords, wordsOf } from "./words.ts";

it("the list has at least 256 words, of letters alone, each once and in order", () => {
  assert.isAtLeast(wordList.length, 256);
  assert.deepStrictEqual(wordList, [...new Set(wordList)].toSorted());
  assert.isEmpty(wordList.filter((word) => !/^[a-z]{3,13}$/.test(word)));
});

/** Parts of words that filters take offence at, also where a space is left out. */
const offensive =
  /ass|arse|anal|anus|tit|cum|cock|dick|dik|fuk|fuck|shit|piss|puss|sex|rape|nig|nazi|coon|kkk|hoe|slut|whore|porn|poop|pee|pube|fag|dyke|gay|homo|tranny|jap|spic|chink|kike|cunt|twat|wank|suck|balls|bonk|bitch|bast|damn|hell|kill|dead|drug|weed|meth|heroin|crack|hash|gun|bomb|shot|knife|isis|allah|jesus|retard|tard|moron|stupid|kys|jizz|semen|penis|peen|vag|boob|butt|bum|thong|nude|naked|molest|pedo|paki|gook|clit|dildo|orgy|incest|lesb|hitler|negro/;

it("no word and no two words in a row read as something offensive", () => {
  const read = wordList.flatMap((one) => wordList.map((other) => one + other));
  assert.isEmpty(read.filter((text) => offensive.test(text)));
});

it("six words are chosen by bytes, from the whole list", () => {
  const bytes = (value: number) => new Uint8Array(12).fill(value);
  assert.strictEqual(wordsOf(bytes(0)), Array(6).fill(wordList[0]).join(" "));
  const of = wordsOf(Uint8Array.from([0, 0, 0, 1, 0, 2, 1, 0, 255, 255, 0, 3])).split(" ");
  const places = of.map((word) => wordList.indexOf(word));
  assert.deepStrictEqual(
    places,
    [0, 1, 2, 256, 65_535, 3].map((place) => place % wordList.length),
  );
  // The bytes of a signature can be a part of a greater buffer.
  assert.strictEqual(wordsOf(new Uint8Array(20).fill(1).subarray(8)), wordsOf(bytes(1)));
});

it.each([
  ["acorn bagel candle", true],
  ["I play games.\nACORN, bagel;\r\n\r\ncandle!", true],
  ["acorn-bagel_candle", true],
  ["ａｃｏｒｎ bagel candle", true],
  ["acorn candle bagel", false],
  ["acorn bagel", false],
  ["acorn bagel and candle", false],
  ["acorn bagel candles", false],
  ["popacorn bagel candle", false],
  ["acornbagelcandle", false],
  ["acorn bagel ######", false],
  ["", false],
])("the description %j has the words: %s", (description, expected) => {
  assert.strictEqual(hasWords(description, "acorn bagel candle"), expected);
});
