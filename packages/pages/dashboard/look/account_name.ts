const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/**
 * Writes the name and the ID of an account as "Ada (100001)". A mark follows a name that is written from right to left,
 * because the ID would stand before the name without it.
 */
export const withId = (name: string, id: string): string =>
  `${name}${rightToLeft.test(name) ? "\u200E" : ""} (${id})`;
