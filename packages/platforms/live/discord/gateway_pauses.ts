/**
 * Pauses between connections to Discord's gateway. Discord resets the token of a bot that identifies itself 1,000 times in a
 * day, so a gateway that closes every connection must be asked less and less.
 */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Effect, Random } from "effect";

/** A shard that was ready for so long begins with short pauses again, in milliseconds. */
const steadyTime = 60_000;

/** The pause before the second connection of a shard, and the longest one, in milliseconds. */
const [firstPause, longestPause] = [1_000, 600_000];

/**
 * Returns the pause before a connection.
 *
 * @param attempt the number of the connection since the shard was steady, from 1
 * @param chance from 0 to 1
 */
export const pauseBefore = (attempt: number, chance: number): number =>
  attempt <= 1 ? 0 : Math.min(firstPause * 2 ** (attempt - 2), longestPause) * (0.5 + chance / 2);

/** Counts the connections of each shard, and waits before each. */
export class GatewayPauses {
  readonly #shards = new Map<number, { attempts: number; readyAt: number | null }>();

  /** Waits before the next connection of a shard. */
  before(shard: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { attempts, readyAt } = this.#shards.get(shard) ?? { attempts: 0, readyAt: null };
      const isSteady = readyAt !== null && (yield* monotonicMillis) >= readyAt + steadyTime;
      const attempt = isSteady ? 1 : attempts + 1;
      this.#shards.set(shard, { attempts: attempt, readyAt: null });
      yield* Effect.sleep(pauseBefore(attempt, yield* Random.next));
    });
  }

  ready(shard: number): Effect.Effect<void> {
    return Effect.map(monotonicMillis, (now) => {
      this.#shards.set(shard, { attempts: this.#shards.get(shard)?.attempts ?? 1, readyAt: now });
    });
  }
}
