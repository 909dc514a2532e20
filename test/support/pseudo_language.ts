/** A language for tests, made from English: every letter has an accent, and every message is longer and in brackets. */

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const withAccents = "áƀçďéḟğĥíĵķłḿñóṕɋřšťúṽŵẍýžÁɃÇĎÉḞĞĤÍĴĶŁḾÑÓṔɊŘŠŤÚṼŴẌÝŽ";

/** Vowels are doubled, so that words are longer by 40 percent, as in German. */
const accented = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) =>
    withAccents.charAt(letters.indexOf(letter)).repeat(/[aeiou]/i.test(letter) ? 2 : 1),
  );

/** Puts accents on the letters of an ICU message, but not on its tags and the names of its values. */
const inMessage = (message: string): string => {
  let written = "";
  let index = 0;
  while (index < message.length) {
    const rest = message.slice(index);
    const [tag] = /^<\/?\w+>/.exec(rest) ?? [];
    const [branches] = /^\{\w+, (?:plural|select),/.exec(rest) ?? [];
    const [value] = /^\{[^{}]*\}/.exec(rest) ?? [];
    const kept = tag ?? branches ?? value;
    if (kept === undefined) written += accented(message[index++] ?? "");
    else {
      written += kept;
      index += kept.length;
    }
    if (branches === undefined) continue;
    // The branches follow, each as the name of a form and a message in braces.
    for (;;) {
      const [form] = /^\s*(?:=\d+|\w+)\s*\{/.exec(message.slice(index)) ?? [];
      if (form === undefined) break;
      const end = endOf(message, index + form.length);
      written += `${form}${inMessage(message.slice(index + form.length, end))}}`;
      index = end + 1;
    }
    written += "}";
    index += 1;
  }
  return written;
};

/** The index of the brace that closes the one before `start`. */
const endOf = (message: string, start: number): number => {
  let depth = 1;
  for (let index = start; index < message.length; index += 1) {
    if (message[index] === "{") depth += 1;
    if (message[index] === "}") depth -= 1;
    if (depth === 0) return index;
  }
  throw new Error(`Cannot read the message ${message}`);
};

export const pseudoLanguage = (english: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(english).map(([key, message]) => [key, `⟦${inMessage(message)}⟧`]));
