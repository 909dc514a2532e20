/**
 * The values in parts of a size. Effect's `chunksOf` copies the rest of the list for each part, which takes minutes for a
 * million values. @internal
 */
export const partsOf = <A>(values: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, part) =>
    values.slice(part * size, (part + 1) * size),
  );

/** `Map.groupBy`, which Node 20 does not have. @param partOf what a group has of each value @internal */
export const groupBy = <K, V, A = V>(
  values: Iterable<V>,
  keyOf: (value: V) => K,
  partOf = (value: V): A => value as unknown as A,
): Map<K, Array<A>> => {
  const groups = new Map<K, Array<A>>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [partOf(value)]);
    else group.push(partOf(value));
  }
  return groups;
};
