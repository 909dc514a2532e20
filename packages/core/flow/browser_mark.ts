import { Effect } from "effect";
import { SecureRandom } from "effect/crypto";
import { randomToken } from "../secrets/random_token.ts";

const pattern = /^[\w-]{43}$/;

/**
 * Makes a function that returns the mark of a browser: the valid mark of its cookie, or a new random one. The mark
 * shows that another chat user confirms in the same browser.
 */
export const makeBrowserMark = Effect.map(
  SecureRandom.SecureRandom,
  (random) =>
    (brought: string | null): Effect.Effect<string> =>
      brought !== null && pattern.test(brought) ? Effect.succeed(brought) : randomToken(random),
);
