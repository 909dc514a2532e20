/**
 * The nickname that a plan set, as stores keep it. A platform may keep another one than it was given: Discord leaves out
 * invisible characters, and keeps none that equals the username. Then both are stored, with a line break between them,
 * which no nickname has.
 */

/** @param kept the nickname that the member has after the change, or null */
export const storedNickname = (given: string, kept: string | null): string =>
  kept === given ? given : `${given}\n${kept ?? ""}`;

/** The nickname that the plan gave. */
export const givenNickname = (stored: string): string => stored.split("\n", 1)[0] ?? "";

/** The nickname that the member has as long as nobody changes it, or null. @internal */
export const shownNickname = (stored: string): string | null => {
  const [given = "", kept = given] = stored.split("\n", 2);
  return kept === "" ? null : kept;
};

/**
 * Returns the text to store until it is known whether the platform has made a change: the member has the given nickname,
 * or still the one that the plan set before.
 *
 * @param ours the nickname that the member has from the plan; null if the member has none, or one of their own
 */
export const uncertainNickname = (given: string, ours: string | null): string =>
  ours === null ? given : `${given}\n${given}\n${ours}`;

/** Returns whether the plan set a nickname, or may have set it in a change whose outcome is not stored. */
export const isSetByPlan = (stored: string, nickname: string | null): boolean =>
  nickname === shownNickname(stored) || (nickname !== null && nickname === stored.split("\n")[2]);
