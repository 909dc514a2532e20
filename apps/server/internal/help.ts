/**
 * Long texts in the help of a command.
 */

const width = 100;

/** Paragraphs of a description, broken into lines and indented as the help indents its first line. */
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
