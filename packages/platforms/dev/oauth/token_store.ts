/** Random tokens with a lifetime: authorization codes and access tokens. */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";

/** @param lifetime in milliseconds */
export const makeTokenStore = Effect.fnUntraced(function* <A>(lifetime: number) {
  const random = yield* SecureRandom.SecureRandom;
  const issued = new Map<string, { readonly value: A; readonly until: number }>();

  const valid = (token: string, now: number): Option.Option<A> => {
    const entry = issued.get(token);
    return entry !== undefined && now < entry.until ? Option.some(entry.value) : Option.none();
  };

  const issue = Effect.fnUntraced(function* (value: A) {
    const token = Base64Url.encode(yield* random.randomBytes(32));
    const now = yield* Clock.currentTimeMillis;
    for (const old of issued.keys()) {
      // All tokens have the same lifetime, so they expire in the order of creation. If this token is valid, all later
      // tokens are valid too.
      if (Option.isSome(valid(old, now))) break;
      issued.delete(old);
    }
    issued.set(token, { value, until: now + lifetime });
    return token;
  });

  /** Returns the value of the token, unless it is unknown or expired. */
  const find = (token: string) => Effect.map(Clock.currentTimeMillis, (now) => valid(token, now));

  /** Like `find`, but also removes the token. */
  const take = (token: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const value = valid(token, now);
      issued.delete(token);
      return value;
    });

  return { lifetime, issue, find, take };
});
