import { Clock, Context, Effect, flow, Layer } from "effect";
import { RateLimited } from "../errors.ts";
import { Counters } from "../limits/counters.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import { Secrets } from "../secrets/secrets.ts";
import { TurnAccount } from "../turns/mod.ts";

/** How many refusals an account may cause in this time, in milliseconds. */
const [limit, durationMs] = [200, 600_000];

/** For how long a read of an account's refusals holds, in milliseconds, and of how many accounts. */
const [readHolds, mostSeen] = [1_000, 1_000];

interface Seen {
  readonly readAt: number;
  count: number;
}

/** The account that the requests of an effect are charged to. @internal */
export interface ChargedAccount {
  readonly name: string;
  /** Fails if the account has caused too many refusals. */
  readonly check: Effect.Effect<void, RateLimited>;
  /** Counts a refusal. */
  readonly charge: Effect.Effect<void>;
}

/**
 * Whom adapters charge when a platform refuses a request with 401, 403, 404 or 429; null while nobody is charged. Set it
 * with `PlatformRefusals`. @internal
 */
export const ChargedAccount = Context.Reference<ChargedAccount | null>("@accountlink/core/ChargedAccount", {
  defaultValue: () => null,
});

/**
 * Who waits for the requests of an effect: a client for its answer, a member for the roles of a new link, or nobody, as
 * for a sweep. Adapters send the requests that somebody waits for first. @internal
 */
export const Urgency = Context.Reference<"answer" | "change" | "background">("@accountlink/core/Urgency", {
  defaultValue: () => "answer",
});

/**
 * Charges refusals of the platforms to the account that causes them. Platforms block applications with many refused
 * requests, so without this limit one account could take the platforms from all others. @internal
 */
export class PlatformRefusals extends Context.Service<PlatformRefusals>()(
  "@accountlink/core/PlatformRefusals",
  {
    make: Effect.gen(function* () {
      const counters = yield* Counters;
      const { counterName } = yield* Secrets;
      const seen = new Map<string, Seen>();

      /** Whether a read of late found so few refusals that the account is below the limit now. */
      const isFarBelow = (account: string, now: number): boolean => {
        const { readAt = Number.NEGATIVE_INFINITY, count = limit } = seen.get(account) ?? {};
        return now - readAt < readHolds && count < limit / 2;
      };
      const note = (account: string, state: Seen) => {
        if (seen.size >= mostSeen) seen.clear();
        seen.set(account, state);
      };

      const chargedAccount = (account: string): ChargedAccount => {
        // The name of an account may have the chat ID of its owner.
        const ruleOf = Effect.map(counterName(`platform_refusals ${account}`), (name) => ({
          key: `platform_refusals:${name}`,
          limit,
          durationMs,
        }));
        return {
          name: account,
          check: Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis;
            if (isFarBelow(account, now)) return;
            // A failed counter stops no request.
            const [state] = yield* Effect.orElseSucceed(counters.read([yield* ruleOf], now), () => []);
            if (state === undefined) return;
            note(account, { readAt: now, count: state.count });
            if (state.count < limit) return;
            const { resetsAt } = state;
            const retryAfter = secondsUntil(resetsAt, now, durationMs);
            return yield* new RateLimited({ bucket: "platform_refusals", limit, resetsAt, retryAfter });
          }),
          charge: Effect.gen(function* () {
            const known = seen.get(account);
            if (known !== undefined) known.count++;
            const rule = yield* ruleOf;
            yield* Effect.ignore(counters.admit([rule], yield* Clock.currentTimeMillis));
          }),
        };
      };

      return {
        /** Charges the account for what the platforms refuse in an effect, which also takes the account's turns. */
        chargeTo: (account: string): (<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) =>
          flow(
            Effect.provideService(ChargedAccount, chargedAccount(account)),
            Effect.provideService(TurnAccount, account),
          ),
      };
    }),
  },
) {
  static readonly layer = Layer.effect(PlatformRefusals, PlatformRefusals.make);
}
