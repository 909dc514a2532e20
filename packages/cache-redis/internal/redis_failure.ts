import { StoreUnavailable, traced } from "@accountlink/core";
import { Context, Effect, Metric } from "effect";
import { ReplyError } from "ioredis";
import { redisFailures } from "../redis_health.ts";

/** Why Redis did not do what it was asked to. */
export class RedisFailure extends Error {
  override readonly name = "RedisFailure";
}

/** What Redis said in place of a reply, or null when the error is no word of Redis. */
export const refusalOf = (error: unknown): string | null =>
  error instanceof ReplyError ? (error as Error).message : null;

/**
 * The reason in a word: what the network said (`ECONNREFUSED`), what Redis said (`OOM`), or `timeout`. The whole message
 * of an error, and the command that the driver hangs on it, may hold an address, a key or a password.
 */
export const reasonOf = (error: unknown): string => {
  const refusal = refusalOf(error);
  if (refusal !== null) return /^[A-Z]+\b/.exec(refusal)?.[0] ?? "refused";
  if (!(error instanceof Error)) return "unknown";
  // A cluster of which no node answers says so of the last one that it asked.
  if ("lastNodeError" in error) return reasonOf(error.lastNodeError);
  if ("code" in error && typeof error.code === "string") return error.code;
  return /time(d )?out/i.test(error.message) ? "timeout" : "not connected";
};

/** Asks Redis. Whatever goes wrong is counted, and is `StoreUnavailable`. */
export const ask = <A>(operation: string, command: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  traced(operation)(
    Effect.tryPromise({
      try: command,
      catch: (error) => {
        const failures = Metric.withAttributes(redisFailures, { operation });
        failures.updateUnsafe(1, Context.empty());
        return new StoreUnavailable({ operation, cause: new RedisFailure(reasonOf(error)) });
      },
    }),
  );
