/** Counts in English, for pages and messages that have no other language. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${numberText(count)} ${count === 1 ? noun : plural}`;

export const numberText = (count: number): string => count.toLocaleString("en");
