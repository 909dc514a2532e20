/**
 * Remembers what a function without effects made of recent arguments, at most `max` of them: then it
 * begins anew, which costs less than to know the oldest.
 *
 * @internal
 */
export const memoize = <Key extends string | number, A extends {}>(
  max: number,
  make: (key: Key) => A,
): ((key: Key) => A) => {
  const made = new Map<Key, A>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      if (made.size >= max) made.clear();
      made.set(key, value);
    }
    return value;
  };
};
