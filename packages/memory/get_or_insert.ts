/** `Map.getOrInsertComputed`, which Node 24 does not have. */
export const getOrInsert = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
};
