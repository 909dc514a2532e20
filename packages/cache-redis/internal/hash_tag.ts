/**
 * The part of a key that a cluster hashes: what is in its first braces, or the whole of it when there is nothing in
 * them. Keys of one part are in one slot.
 */
export const hashTagOf = (key: string): string => {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  return open === -1 || close <= open + 1 ? key : key.slice(open + 1, close);
};

/** The name of a window, `ip_day:203.0.113.7`, with braces around what is counted: its windows share a slot. */
export const tagged = (name: string): string => {
  const colon = name.indexOf(":") + 1;
  return `${name.slice(0, colon)}{${name.slice(colon)}}`;
};
