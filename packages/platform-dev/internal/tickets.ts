/**
 * Random texts that stand for something for a while: authorization codes and access tokens.
 */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";

export interface Tickets<A> {
  /** In milliseconds. */
  readonly lifetime: number;
  readonly issue: (value: A) => Effect.Effect<string>;
  /** What the ticket stands for, if it is one and its time is not over. */
  readonly find: (ticket: string) => Effect.Effect<Option.Option<A>>;
  /** The same, and uses the ticket up. */
  readonly take: (ticket: string) => Effect.Effect<Option.Option<A>>;
}

/** @param lifetime in milliseconds */
export const makeTickets = Effect.fnUntraced(function* <A>(
  lifetime: number,
): Effect.fn.Return<Tickets<A>, never, SecureRandom.SecureRandom> {
  const random = yield* SecureRandom.SecureRandom;
  const issued = new Map<string, { readonly value: A; readonly until: number }>();

  const valid = (ticket: string, now: number): Option.Option<A> => {
    const entry = issued.get(ticket);
    return entry !== undefined && now < entry.until ? Option.some(entry.value) : Option.none();
  };

  const issue = Effect.fnUntraced(function* (value: A) {
    const ticket = Base64Url.encode(yield* random.randomBytes(32));
    const now = yield* Clock.currentTimeMillis;
    for (const old of issued.keys()) {
      // All live equally long, so the oldest come first.
      if (Option.isSome(valid(old, now))) break;
      issued.delete(old);
    }
    issued.set(ticket, { value, until: now + lifetime });
    return ticket;
  });

  const find = (ticket: string) => Effect.map(Clock.currentTimeMillis, (now) => valid(ticket, now));

  const take = (ticket: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const value = valid(ticket, now);
      issued.delete(ticket);
      return value;
    });

  return { lifetime, issue, find, take };
});
