/**
 * Line wrapping for the help of commands.
 */

const width = 100;

/** Wraps paragraphs, with the indentation of the help. */
export const paragraphs = (...texts: ReadonlyArray<string>): string =>
  texts.map((text) => wrap(text).join("\n  ")).join("\n\n  ");

const wrap = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || longer.length > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
};
