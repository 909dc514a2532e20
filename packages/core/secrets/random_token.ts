import { Effect } from "effect";
import type { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";

/** Returns 256 random bits in base64url, 43 characters. */
export const randomToken = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<string> =>
  Effect.map(random.randomBytes(32), Base64Url.encode);
