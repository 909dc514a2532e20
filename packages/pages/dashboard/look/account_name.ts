const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/** Writes an account as "Ada (100001)". If the name is written from right to left, a mark keeps the ID behind it. */
export const withId = (name: string, id: string): string =>
  `${name}${rightToLeft.test(name) ? "\u200E" : ""} (${id})`;
