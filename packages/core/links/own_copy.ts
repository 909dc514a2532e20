/**
 * A copy of a text with memory of its own. A part of a text keeps the whole of it alive, which is much of a file.
 */
export const ownCopy = <Text extends string>(text: Text): Text => Array.from(text).join("") as Text;
