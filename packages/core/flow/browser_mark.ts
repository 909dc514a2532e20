/**
 * The mark of a browser: a random text in a cookie of its own, by which the browser is known again when another chat user
 * confirms in it.
 */
import { Effect } from "effect";
import { SecureRandom } from "effect/crypto";
import { randomToken } from "../secrets/random_token.ts";

const pattern = /^[\w-]{43}$/;

/** Makes the function that gives the mark of a browser: the one that it brings, or a new one. */
export const makeBrowserMark = Effect.map(
  SecureRandom.SecureRandom,
  (random) =>
    (brought: string | null): Effect.Effect<string> =>
      brought !== null && pattern.test(brought) ? Effect.succeed(brought) : randomToken(random),
);
