import { Context, Effect, Layer } from "effect";
import { Turns } from "./turns.ts";
import { accountsPart } from "./working_time.ts";

/** How many requests of one account are answered at a time. With more, each step of another account waits for more. */
const mostAtOnce = 4;

/** How many writes of one account are answered at a time. They share commits, and with 64 no more were answered. */
const mostWrites = 16;

/**
 * Answers requests that cost more than a lookup in turns of their accounts: an account's further requests wait for its
 * first ones. @internal
 */
export class AccountRequests extends Context.Service<AccountRequests>()("@accountlink/core/AccountRequests", {
  make: Effect.sync(() => {
    const turns = new Turns({ resource: "requests", most: mostAtOnce });
    const lists = new Turns({ resource: "requests", most: mostAtOnce, workingPart: accountsPart });
    const writes = new Turns({ resource: "requests", most: mostWrites });
    return {
      /** Answers what may wait for a platform, such as a lookup with a guild. */
      answer: <A, E, R>(account: string, answer: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        turns.step(account, answer),

      /** Answers with many users, which takes longer than any other request, so that places rest after it. */
      list: <A, E, R>(account: string, answer: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        lists.step(account, answer),

      /** Answers a write without a guild. */
      write: <A, E, R>(account: string, answer: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        writes.step(account, answer),
    };
  }),
}) {
  static readonly layer = Layer.effect(AccountRequests, AccountRequests.make);
}
