/** `Map.groupBy`, which Node 20 does not have. @internal */
export const groupBy = <K, V>(values: Iterable<V>, keyOf: (value: V) => K): Map<K, Array<V>> => {
  const groups = new Map<K, Array<V>>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
};
