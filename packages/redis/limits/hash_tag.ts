/**
 * The hash tag of a key: the text in its first braces, or the whole key if there is no such text. Keys with the same
 * hash tag share a slot.
 */
export const hashTagOf = (key: string): string => {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  return open === -1 || close <= open + 1 ? key : key.slice(open + 1, close);
};

/** Puts the subject of a window in braces, so that it is the hash tag: `ip_day:{203.0.113.7}`. */
export const withHashTag = (name: string): string => {
  const colon = name.indexOf(":") + 1;
  return `${name.slice(0, colon)}{${name.slice(colon)}}`;
};
