/**
 * Caches the results of a pure function. When the cache has `max` entries, all of them are dropped, which costs less
 * than tracking the oldest entry.
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
