/**
 * Returns the text that tells, in the title of a skipped test, why the test is skipped.
 *
 * @throws Error with CI=true, where nothing may be skipped
 */
export const skipReason = (missing: string, reason: string): string => {
  if (process.env["CI"] === "true") throw new Error(`Cannot test without ${missing}: ${reason}`);
  return `without ${missing}: ${reason}`;
};
