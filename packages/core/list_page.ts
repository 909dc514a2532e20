/**
 * Returns the page of a list that was read one record beyond the page, and the last record of the page if there are more.
 * @internal
 */
export const pageOf = <A>(found: ReadonlyArray<A>, limit: number) => {
  const page = found.slice(0, limit);
  return { page, last: found.length > limit ? (page.at(-1) ?? null) : null };
};
