/**
 * What the title of a skipped test says is missing, and why.
 *
 * @throws Error when CI=true, where nothing is skipped
 */
export const skipReason = (missing: string, reason: string): string => {
  if (process.env["CI"] === "true") throw new Error(`Cannot test without ${missing}: ${reason}`);
  return `without ${missing}: ${reason}`;
};
