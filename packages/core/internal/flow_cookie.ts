/**
 * Cookies of flows: a random token, and the time when the flow is over, so that a browser can be told so when the flow
 * itself is gone. What a flow is stored under is made of the whole, so that a cookie with another time stands for none.
 */
import { Effect } from "effect";
import type { SecureRandom } from "effect/crypto";
import type { Millis } from "../link.ts";
import { randomToken } from "./random_token.ts";

export const newCookie = (
  random: SecureRandom.SecureRandom["Service"],
  expiresAt: Millis,
): Effect.Effect<string> => Effect.map(randomToken(random), (token) => `${token}.${expiresAt.toString(36)}`);

/** When the flow of a cookie is over; null for what is no cookie of ours. */
export const deadlineOf = (cookie: string | null): Millis | null => {
  const [, expiresAt] = /^[\w-]{43}\.([\da-z]{1,9})$/.exec(cookie ?? "") ?? [];
  return expiresAt === undefined ? null : Number.parseInt(expiresAt, 36);
};
