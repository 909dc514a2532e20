/**
 * How many letters have to be added, removed or replaced to make one text of the other
 * (Levenshtein).
 */
export const editDistance = (one: string, other: string): number => {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(one).entries()) {
    const current = [row + 1];
    for (let column = 0; column < other.length; column++) {
      const replaced = (previous[column] as number) + (letter === other[column] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] as number) + 1, (current[column] as number) + 1));
    }
    previous = current;
  }
  return previous[other.length] as number;
};
